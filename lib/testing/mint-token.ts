import { mintOf, type MintRequest } from '../audit/testing-door'
import { type ReceivedTokenResponse, tokenResponseOf } from './approve'

/**
 * Issues an access token without HTTP and without a grant. The token is like any other: its record stands in the store
 * of the server, guards take it, introspection knows it, and it can be revoked. No event is emitted, because no client
 * asked.
 *
 * @param oauth what `createAuthorizationServer()` returned.
 * @returns what the token endpoint would have answered (RFC 6749 5.1): `access_token`, `token_type`, `expires_in`, `scope`.
 * @throws Error when the client is not registered or is disabled.
 * @throws OAuthError `invalid_scope` when the client may not have the scope.
 */
export async function mintToken(oauth: object, request: MintRequest): Promise<ReceivedTokenResponse> {
  const mint = mintOf(oauth)
  if (mint === undefined)
    throw new TypeError(
      'mintToken() needs what createAuthorizationServer() of this copy of the package returned. A test runner that resets modules between the two imports has two copies.',
    )
  return tokenResponseOf(await mint(request))
}

/** A clock that stands still until a test moves it. */
export interface TestClock {
  /** Milliseconds since the epoch. */
  (): number
  /** Moves the clock on by so many seconds. */
  advance(seconds: number): void
}

/**
 * Makes a clock for the option `clock` of a server, a guard and `memoryStore()`. Give one clock to all of them. Redis
 * expires keys by its own clock, which no test moves; the suite still refuses what has expired by this one.
 *
 * @param start milliseconds since the epoch. Default: now.
 */
export function testClock(start: number = Date.now()): TestClock {
  let now = start
  const advance = (seconds: number) => {
    now += seconds * 1000
  }
  return Object.assign(() => now, { advance })
}
