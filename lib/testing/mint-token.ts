import { mintOf, type MintRequest } from '../protocol/test-door'
import { type ReceivedTokenResponse, tokenResponseOf } from './approve'

/**
 * Issues an access token without HTTP and grant. It works like any other: the server's store has its record,
 * guards accept it, introspection knows it, and a request can revoke it. The server emits no event, because no
 * client sent a request.
 *
 * @param oauth the result of `createAuthorizationServer()`.
 * @returns `access_token`, `token_type`, `expires_in`, `scope` (RFC 6749 5.1).
 * @throws Error if the client is not registered or is disabled.
 * @throws OAuthError `invalid_scope` if the client may not have the scope.
 * @throws TypeError if `oauth` is not a server of this copy of the package.
 */
export async function mintToken(oauth: object, request: MintRequest): Promise<ReceivedTokenResponse> {
  const mint = mintOf(oauth)
  if (mint === undefined)
    throw new TypeError(
      'mintToken() needs the result of createAuthorizationServer() of the same copy of the package. A test runner that resets modules between the two imports loads two copies.',
    )
  return tokenResponseOf(await mint(request))
}

/** Stands still until a test moves it. */
export interface TestClock {
  /** Milliseconds since the epoch. */
  (): number
  advance(seconds: number): void
}

/**
 * For the option `clock` of a server, a guard and `memoryStore()`: give all the same. Redis expires keys by its
 * own clock, which a test cannot move; the suite still refuses credentials that expired by the test clock.
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
