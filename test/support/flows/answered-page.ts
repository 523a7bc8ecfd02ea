import type { Response } from 'supertest'

/**
 * Where the page links to that tells of an access that was allowed before; undefined when it links nowhere. It holds
 * nothing of the answer, and leads on by nothing but its link.
 */
export function answeredPageOf(response: Response): string | undefined {
  expect(response.status).toBe(200)
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
  })
  expect(response.headers).not.toHaveProperty('location')
  expect(response.headers).not.toHaveProperty('refresh')
  expect(response.text).toContain('You allowed access already')
  expect(response.text).not.toMatch(
    /<form|<meta http-equiv|\b(?:ac|at|ar)_[\w-]{9}|[?&#;](?:code|state|access_token)=/,
  )
  const [link, ...more] = [...response.text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href)
  expect(more).toEqual([])
  return link
}
