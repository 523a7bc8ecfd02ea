import { mintOf, type MintRequest } from '../testing-door'
import { tokenResponseOf, type ReceivedTokenResponse } from './token-response'

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
