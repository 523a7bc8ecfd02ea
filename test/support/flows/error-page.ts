import type { Response } from 'supertest'

/** Status and code of a page that tells the resource owner why a request cannot go on; it leads nowhere. */
export function errorPageOf(response: Response): string {
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
  })
  expect(response.headers).not.toHaveProperty('location')
  expect(response.text).not.toMatch(/<a |<form|<meta http-equiv/)
  const [, code, requestId] = /<code>(\w+)<\/code>\s*<code>([^<]+)<\/code>/.exec(response.text) ?? []
  expect(requestId).toBe(response.headers['x-request-id'])
  return `${response.status} ${code}`
}
