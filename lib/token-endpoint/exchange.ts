import { begin, commit } from '../authorization/commit'
import { type Issued, issueDirectly } from '../authorization/issue'
import type { FindAccess, FoundAccess } from '../authorization/lookup'
import { idOfUse } from '../authorization/one-time-use'
import { type IssueContext, issueEvent, type OnCommitted } from '../authorization/transition'
import type { Client } from '../protocol/client'
import type { Extension } from '../protocol/extension'
import { unauthorizedClient, unsupportedGrantType } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { distinct, parseScope, type Scope } from '../protocol/scope'
import { countersOfClient, type IssueLimits } from '../rate-limit/issue-limits'
import type { Resources } from '../resource-indicators/resources'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { Counters } from '../stores/counters'
import type { WriteBackCache } from '../stores/recently-written'
import { tokenResponse, type TokenResponse } from '../token-types/bearer'
import {
  type DirectGrant,
  type GrantResult,
  type GrantType,
  requireGrantResult,
  type TokenRequest,
} from './grant-type'
import { restrictToken } from './restrict'

/** The parts of the server that the token endpoint uses. */
export interface TokenEndpoint {
  /** The issuer. The id of a one-time use includes the issuer, so servers that share a store do not collide. */
  readonly issuer: string
  readonly grantTypes: ReadonlyMap<string, GrantType>
  readonly extensions: readonly Extension[]
  /** The protected resources; undefined if the server names none. */
  readonly resources: Resources | undefined
  readonly defaultScope: Scope
  /** The token type of a client whose registration names none. */
  readonly tokenType: string
  readonly store: AuthorizationStore
  readonly takeCached: WriteBackCache['takeCached']
  /** Finds an access token of this server that counts here. */
  readonly findAccess: FindAccess
  readonly counters: Counters
  readonly issueLimits: Pick<IssueLimits, 'requireRoom'>
  readonly issueContext: (restrict?: IssueContext['restrict']) => IssueContext
}

/** A token request of an authenticated client, before the server reads the grant type. */
export interface ExchangeRequest {
  readonly client: Client
  readonly parameters: Parameters
  /** The address of the client; undefined if the connection has closed. */
  readonly address: () => string | undefined
  readonly onCommitted?: OnCommitted
}

/**
 * Exchanges a grant for tokens (RFC 6749 3.2). The grant type proves the grant, extensions may narrow the token, and
 * one write to the store creates the tokens.
 *
 * @throws OAuthError every refusal of RFC 6749 5.2.
 */
export async function exchange(
  endpoint: TokenEndpoint,
  { client, parameters, address, onCommitted }: ExchangeRequest,
): Promise<TokenResponse> {
  const { grantTypes, extensions } = endpoint
  const grantType = grantTypes.get(parameters.require('grant_type'))
  if (grantType === undefined)
    throw unsupportedGrantType('grant_type_unknown', 'The grant type is not supported.')
  if (!client.grant_types.includes(grantType.name))
    throw unauthorizedClient('grant_type_not_registered', 'The client may not use this grant type.')
  parameters.check(grantType.parameters)
  for (const { tokenParameters = [] } of extensions) parameters.check(tokenParameters)
  endpoint.issueLimits.requireRoom(client.client_id)
  const named = {
    client,
    parameters,
    grantType: grantType.name,
    requestedScope: requestedScope(grantType, parameters),
  }
  const context = endpoint.issueContext((granted) => restrictToken(extensions, named, granted))
  const request = new RequestOfClient(endpoint, client, parameters, context, address)
  const result: unknown = await grantType.handle(request)
  requireGrantResult(result, grantType.name)
  const issued =
    'transition' in result
      ? await move(endpoint, result, context, onCommitted)
      : await beginWith(endpoint, client, grantType.name, result.grant, context, onCommitted)
  const response = tokenResponse(issued, context.now)
  return result.members === undefined ? response : { ...result.members, ...response }
}

function requestedScope(grantType: GrantType, parameters: Parameters): Scope | undefined {
  const text = grantType.parameters.includes('scope') ? parameters.peek('scope') : undefined
  return text === undefined ? undefined : parseScope(text)
}

// A class instead of an object literal: V8 makes a new hidden class for each literal with a getter, and that class
// keeps its request alive.
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

  get issuer(): string {
    return this.endpoint.issuer
  }

  get findResource() {
    const { resources } = this.endpoint
    return resources && ((uri: string) => resources.find(uri)?.uri)
  }

  get counters(): Counters {
    return countersOfClient(this.endpoint.counters, this.client.client_id)
  }

  get address(): string | undefined {
    return this.addressOf()
  }

  get findAccess() {
    return (accessToken: string): Promise<FoundAccess | undefined> =>
      this.endpoint.findAccess(accessToken, this.context.now)
  }
}

function move(
  { store, takeCached }: TokenEndpoint,
  { authorizationId: id, transition }: Extract<GrantResult, { readonly transition: unknown }>,
  { random }: IssueContext,
  onCommitted: OnCommitted | undefined,
): Promise<Issued> {
  return commit(store, id, transition, random, takeCached(id), onCommitted)
}

/** Begins an authorization of a client, with tokens. @throws OAuthError if an extension refuses the token. */
export async function beginWith(
  { issuer, store, tokenType }: TokenEndpoint,
  client: Client,
  grantType: string,
  { subject, scope, refreshToken, extensionData, expiresAt, oneTimeUse, subjectToken, audience }: DirectGrant,
  context: IssueContext,
  onCommitted?: OnCommitted,
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
    subjectToken,
    audience,
  }
  const id = oneTimeUse && idOfUse([issuer, grantType, oneTimeUse.key])
  const { authorization, issued } = issueDirectly(grant, context, id)
  await begin(store, authorization, context.random, oneTimeUse?.refusal)
  onCommitted?.({ authorization, event: issueEvent('issued', authorization.accessTokens.at(-1)) })
  return issued
}
