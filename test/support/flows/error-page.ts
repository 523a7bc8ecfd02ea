import type { Response } from 'supertest'

/**
 * Status and code of a page that tells the resource owner why a request cannot go on. It leads nowhere, or to the home
 * page of a registered client, without any part of the request.
 */
export function errorPageOf(response: Response): string {
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
  })
  expect(response.headers).not.toHaveProperty('location')
  expect(response.text).not.toMatch(/<form|<meta http-equiv/)
  const links = [...response.text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href)
  expect(links.slice(1)).toEqual([])
  expect(links.join()).not.toMatch(/[?&#;](?:code|state|error|access_token)=/)
  const [, code, requestId] = /<code>(\w+)<\/code>\s*<code>([^<]+)<\/code>/.exec(response.text) ?? []
  expect(requestId).toBe(response.headers['x-request-id'])
  return `${response.status} ${code}`
}
