import type { Response } from 'supertest'

/** A token response, under the names of this code; without a refresh token that one is empty. */
export interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresIn: number
  readonly scope: string
}

/** Reads a token response, which must be a success in the form of RFC 6749 5.1. */
export function tokensOf(response: Response): Tokens {
  if (response.status !== 200) throw new Error(`No tokens came: ${response.status} ${response.text}`)
  expectUncachedJson(response)
  expect(response.body).toMatchObject({
    access_token: expect.stringMatching(/^at_[A-Za-z0-9_-]{65}$/),
    token_type: 'bearer',
    expires_in: expect.any(Number),
    scope: expect.any(String),
  })
  const { access_token, refresh_token = '', expires_in, scope } = response.body
  return {
    accessToken: String(access_token),
    refreshToken: String(refresh_token),
    expiresIn: Number(expires_in),
    scope: String(scope),
  }
}

/** Status and code of an answer that must be a refusal in the form of RFC 6749 5.2. */
export function refusalOf(response: Response): string {
  expectUncachedJson(response)
  expect(response.body).toEqual({
    error: expect.stringMatching(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/),
    error_description: expect.stringMatching(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/),
  })
  return `${response.status} ${response.body.error}`
}

/** Every answer to a client must be so (RFC 6749 5.1). */
export function expectUncachedJson({ headers }: Response): void {
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    pragma: 'no-cache',
  })
}
