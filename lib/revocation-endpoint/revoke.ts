import { commit } from '../authorization/commit'
import { revokeByToken } from '../authorization/revoke'
import type { IssueContext, OnCommitted } from '../authorization/transition'
import type { Client } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { Parameters } from '../protocol/parameters'
import type { AuthorizationStore } from '../stores/authorization-store'

/** What the revocation endpoint works with. */
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
 * Revokes what a token of this client descends from (RFC 7009 2). The answer is the same for every token, so that
 * nobody learns from it whether somebody else's exists. `token_type_hint` is ignored: a token tells its kind itself.
 *
 * @throws OAuthError `invalid_request` when there is no token.
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
  // RFC 7009 2.2 wants an empty success; libraries that parse every answer as JSON need an object.
  return {}
}
