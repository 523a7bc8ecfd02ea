import type { Response } from 'supertest'

/** The link of a page that warns of plain HTTP, as a browser would follow it; nothing else leads on. */
export function insecureLinkOf(response: Response): URL {
  expect(response.status).toBe(200)
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringMatching(/^default-src 'none';.* form-action 'none'/),
  })
  for (const header of ['location', 'refresh', 'link']) expect(response.headers).not.toHaveProperty(header)
  expect(response.text).toContain('without encryption')
  expect(response.text).not.toMatch(/<script|<form|http-equiv|<img|<iframe/i)
  const links = [...response.text.matchAll(/<a [^>]*href="([^"]*)" rel="noreferrer"/g)]
  expect(links).toHaveLength(1)
  return new URL(String(links[0]?.[1]).replaceAll('&amp;', '&'))
}
