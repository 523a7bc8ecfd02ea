import type { IssueLimits } from '../attempts/issue-limits'
import { countersOfClient } from '../attempts/single-uses'
import type { IssueContext } from '../authorization/circumstances'
import { begin, commit } from '../authorization/commit'
import { findAccess, type FoundAccess } from '../authorization/find-access'
import type { Issued } from '../authorization/issue'
import { issueDirectly } from '../authorization/issue-directly'
import { idOfUse } from '../authorization/one-time-use'
import type { OnCommitted } from '../authorization/witness'
import type { Client } from '../protocol/client'
import { unauthorizedClient, unsupportedGrantType } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { distinct, type Scope } from '../protocol/scope'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { Counters } from '../stores/counters'
import type { WriteBackCache } from '../stores/recently-written'
import type { DirectGrant, GrantType, GrantResult, TokenRequest } from './grant-type'
import { requireProof } from './require-proof'
import { tokenResponse, type TokenResponse } from '../token-types/token-response'

/** What the token endpoint works with. */
export interface TokenEndpoint {
  /** One-time uses belong to it. */
  readonly issuer: string
  readonly grantTypes: ReadonlyMap<string, GrantType>
  readonly defaultScope: Scope
  /** The token type of a client that names none. */
  readonly tokenType: string
  readonly store: AuthorizationStore
  readonly takeCached: WriteBackCache['takeCached']
  readonly counters: Counters
  readonly issueLimits: Pick<IssueLimits, 'requireRoom'>
  readonly context: () => IssueContext
}

/**
 * Exchanges a grant for tokens (RFC 6749 3.2): the grant type proves, and the tokens come into being in one write.
 *
 * @throws OAuthError every refusal of RFC 6749 5.2.
 */
export async function exchange(
  endpoint: TokenEndpoint,
  client: Client,
  parameters: Parameters,
  address: () => string | undefined,
  witness?: OnCommitted,
): Promise<TokenResponse> {
  const { grantTypes } = endpoint
  const grantType = grantTypes.get(parameters.require('grant_type'))
  if (grantType === undefined)
    throw unsupportedGrantType('grant_type_unknown', 'The grant type is not supported.')
  if (!client.grant_types.includes(grantType.name))
    throw unauthorizedClient('grant_type_not_registered', 'The client may not use this grant type.')
  parameters.check(grantType.parameters)
  endpoint.issueLimits.requireRoom(client.client_id)
  const context = endpoint.context()
  const request = new RequestOfClient(endpoint, client, parameters, context, address)
  const proof: unknown = await grantType.handle(request)
  requireProof(proof, grantType.name)
  const issued =
    'transition' in proof
      ? await move(endpoint, proof, context, witness)
      : await beginWith(endpoint, client, grantType.name, proof.grant, context, witness)
  const response = tokenResponse(issued, context.now)
  return proof.members === undefined ? response : { ...proof.members, ...response }
}

// A class: of an object with a getter of its own, V8 makes a new hidden class for each, which holds its request for long.
class RequestOfClient implements TokenRequest {
  readonly defaultScope: Scope

  constructor(
    private readonly endpoint: TokenEndpoint,
    readonly client: Client,
    readonly parameters: Parameters,
    readonly context: IssueContext,
    private readonly addressOf: () => string | undefined,
  ) {
    this.defaultScope = endpoint.defaultScope
  }

  get counters(): Counters {
    return countersOfClient(this.endpoint.counters, this.client.client_id)
  }

  get address(): string | undefined {
    return this.addressOf()
  }

  get findAccess() {
    return (accessToken: string): Promise<FoundAccess | undefined> =>
      findAccess(this.endpoint.store, accessToken, this.context.now)
  }
}

function move(
  { store, takeCached }: TokenEndpoint,
  { authorizationId: id, transition }: Extract<GrantResult, { readonly transition: unknown }>,
  { random }: IssueContext,
  witness: OnCommitted | undefined,
): Promise<Issued> {
  return commit(store, id, transition, random, takeCached(id), witness)
}

/** Begins an authorization of a client with tokens at once. */
export async function beginWith(
  { issuer, store, tokenType }: TokenEndpoint,
  client: Client,
  grantType: string,
  { subject, scope, refreshToken, extensionData, expiresAt, oneTimeUse }: DirectGrant,
  context: IssueContext,
  witness?: OnCommitted,
): Promise<Issued> {
  const { client_id: clientId, token_type = tokenType } = client
  const grant = {
    clientId,
    tokenType: token_type,
    subject,
    scope: distinct(scope),
    refreshToken,
    extensionData,
    expiresAt,
    oneTimeUse,
  }
  const id = oneTimeUse && idOfUse([issuer, grantType, oneTimeUse.key])
  const { authorization, issued } = issueDirectly(grant, context, id)
  await begin(store, authorization, context.random, oneTimeUse?.refusal)
  witness?.({ found: undefined, write: authorization })
  return issued
}
