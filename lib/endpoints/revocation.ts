import { commit } from '../authorization/commit'
import { type FormattedToken, readFormatted } from '../authorization/lookup'
import { revokeByToken } from '../authorization/revoke'
import type { IssueContext, OnCommitted, Transition } from '../authorization/transition'
import type { AccessTokenReader } from '../protocol/access-token-format'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { Parameters } from '../protocol/parameters'
import type { AuthorizationStore } from '../authorization/store'

/** The parts of the server that the revocation endpoint uses. */
interface RevocationEndpoint {
  readonly store: AuthorizationStore
  /** The formats of access tokens that the server reads. */
  readonly formats: readonly AccessTokenReader[]
  readonly issueContext: () => IssueContext
}

/** A revocation request of an authenticated client. */
interface RevocationRequest {
  readonly client: Client
  readonly parameters: Parameters
  readonly onCommitted?: OnCommitted
  readonly useUp?: (() => Promise<void>) | undefined
}

/**
 * Revokes the authorization of a token of this client, with every credential that descends from the authorization (RFC
 * 7009 2). The response is the same for every token, so it does not show whether a token of another client exists. The
 * server ignores `token_type_hint`: the form of a token shows its kind, and each format reads its own tokens.
 *
 * @throws OAuthError `invalid_request` if the request has no token.
 */
export async function revoke(
  endpoint: RevocationEndpoint,
  request: RevocationRequest,
): Promise<Readonly<Record<string, never>>> {
  const token = request.parameters.require('token')
  const id = credentialId('accessToken', token) ?? credentialId('refreshToken', token)
  if (id !== undefined) await revokeIn(endpoint, request, id, token)
  else if (endpoint.formats.length > 0)
    for (const formatted of await readFormatted(endpoint.formats, token))
      await revokeIn(endpoint, request, formatted.authorizationId, formatted)
  // RFC 7009 2.2 demands an empty success. Libraries that parse every response as JSON need an object.
  return {}
}

function revokeIn(
  { store, issueContext }: RevocationEndpoint,
  { client, onCommitted, useUp }: RevocationRequest,
  id: string,
  token: string | FormattedToken,
): Promise<unknown> {
  const transition: Transition<unknown> = (current) =>
    revokeByToken(current, { token, clientId: client.client_id })
  return commit(store, id, transition, issueContext().random, undefined, onCommitted, undefined, useUp)
}
