import type { Response } from 'supertest'

/** Reads the page of the response mode `form_post`, and whether it submits its form by itself. */
export function postedFormOf(page: Pick<Response, 'text'>) {
  const [form, action = ''] = /<form method="post" action="([^"]*)"[^>]*>.*?<\/form>/s.exec(page.text) ?? []
  if (form === undefined || !form.includes('<button')) throw new Error(`No form: ${page.text.slice(0, 500)}`)
  const inputs = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)" \/>/g)]
  return {
    action: unescaped(action),
    fields: Object.fromEntries(
      inputs.map(([, name = '', value = '']) => [unescaped(name), unescaped(value)]),
    ),
    submitsItself: page.text.includes('<script>'),
  }
}

const named = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
])

const unescaped = (text: string): string =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (_, code?: string, name = '') =>
    code === undefined ? String(named.get(name)) : String.fromCharCode(Number(code)),
  )
