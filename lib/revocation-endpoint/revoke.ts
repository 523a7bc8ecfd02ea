import { commit } from '../authorization/commit'
import { revokeByToken } from '../authorization/revoke'
import type { IssueContext, OnCommitted } from '../authorization/transition'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { Parameters } from '../protocol/parameters'
import type { AuthorizationStore } from '../stores/authorization-store'

/** The parts of the server that the revocation endpoint uses. */
export interface RevocationEndpoint {
  readonly store: AuthorizationStore
  readonly issueContext: () => IssueContext
}

/** A revocation request of an authenticated client. */
export interface RevocationRequest {
  readonly client: Client
  readonly parameters: Parameters
  readonly onCommitted?: OnCommitted
}

/**
 * Revokes the authorization of a token of this client, with every credential that descends from the authorization (RFC
 * 7009 2). The response is the same for every token, so it does not show whether a token of another client exists. The
 * server ignores `token_type_hint`: the form of a token shows its kind.
 *
 * @throws OAuthError `invalid_request` if the request has no token.
 */
export async function revoke(
  { store, issueContext }: RevocationEndpoint,
  { client, parameters, onCommitted }: RevocationRequest,
): Promise<Readonly<Record<string, never>>> {
  const token = parameters.require('token')
  const id = credentialId('accessToken', token) ?? credentialId('refreshToken', token)
  if (id !== undefined) {
    const { random } = issueContext()
    await commit(
      store,
      id,
      (current) => revokeByToken(current, { token, clientId: client.client_id }),
      random,
      undefined,
      onCommitted,
    )
  }
  // RFC 7009 2.2 demands an empty success. Libraries that parse every response as JSON need an object.
  return {}
}
