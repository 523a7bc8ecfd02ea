import type { Response } from 'supertest'

/** The form of a consent page as a browser would send it. */
export interface ConsentForm {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

/** Reads the form of a consent page that came from this path. */
export function consentFormOf(page: Pick<Response, 'status' | 'text'>, path: string): ConsentForm {
  const form = /<form method="post" action="([^"]*)".*?<\/form>/s.exec(page.text)
  if (form === null) throw new Error(`Not a consent page: ${page.status} ${page.text.slice(0, 500)}`)
  const [text, action = ''] = form
  const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  const { pathname, search } = new URL(action, new URL(path, 'http://localhost'))
  return {
    action: pathname + search,
    fields: Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])),
  }
}

/** The first answer to the question on a consent page, as the field of the form; nothing if the page asks none. */
export function firstAnswerIn(html: string): Readonly<Record<string, string>> {
  const [, name, value] = /<input type="radio" name="([^"]*)" value="([^"]*)"/.exec(html) ?? []
  return name === undefined || value === undefined ? {} : { [name]: value }
}
