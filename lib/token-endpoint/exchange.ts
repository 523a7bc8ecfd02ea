import { newestDigest } from '../authorization/access-token'
import { begin, commit } from '../authorization/commit'
import {
  complete,
  completes,
  completing,
  type DecidedToken,
  type Recipient,
} from '../authorization/complete-issue'
import { type Issuance, type Issued, issueDirectly } from '../authorization/issue'
import type { FoundAccess } from '../authorization/lookup'
import { idOfUse } from '../authorization/one-time-use'
import { type IssueContext, issueEvent, type OnCommitted } from '../authorization/transition'
import type { Client } from '../protocol/client'
import type { Evidence } from '../protocol/extension-data'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import { distinct, parseScope, type Scope, withoutIgnoredScope } from '../protocol/scope'
import { shareOf } from '../limits/shares'
import { type Counters, countersOf } from '../limits/counters'
import { tokenResponse, type TokenResponse } from '../extensions/token-types/bearer'
import { issueContext, type Context } from '../doors/context'
import type { DirectGrant, GrantResult, ServedGrantType, TokenRequest } from '../authorization/grant-type'
import { restrictToken } from '../authorization/restrict'

interface AuthenticatedTokenRequest {
  readonly client: Client
  readonly parameters: Parameters
  readonly evidence: Evidence
  readonly address: string | undefined
  readonly onCommitted?: OnCommitted
  readonly useUp?: (() => Promise<void>) | undefined
}

/** RFC 6749 3.2. */
export async function exchange(
  server: Context,
  received: AuthenticatedTokenRequest,
): Promise<ReturnType<typeof responseTo>> {
  const { grantType, asked } = readRequest(server, received)
  const { context } = asked
  const result =
    'grant' in grantType
      ? grantType.grant(asked)
      : await grantType.handle(new RequestOfClient(server, received, asked.parameters, context))
  if ('transition' in result)
    return responseTo(server, result, await move(server, result, asked, received), context)
  const begun = beginningOf(server, asked.client, grantType.name, result.grant, context)
  const { issued, event } = completes(server) ? await complete(server, begun, asked) : begun
  if (received.useUp !== undefined) await received.useUp()
  await begin(server.store, begun.authorization, context.random, result.grant.oneTimeUse?.refusal)
  received.onCommitted?.({ authorization: begun.authorization, event })
  return responseTo(server, result, issued, context)
}

interface ReadRequest {
  readonly grantType: ServedGrantType
  readonly asked: Recipient & AskedGrant & { readonly requestedScope: Scope | undefined }
}

type AskedGrant = Pick<TokenRequest, 'client' | 'parameters' | 'context' | 'defaultScope'>

function readRequest(server: Context, received: AuthenticatedTokenRequest): ReadRequest {
  const { client, evidence } = received
  const { grantTypes, ignoredScope, ignoredAtRefresh } = server.plugins
  const grantType = grantTypes.get(received.parameters.require('grant_type'))
  if (grantType === undefined) throw refused('grant_type_unknown')
  // RFC 6749 6: a scope beyond that of the grant is a mistake.
  const ignored = grantType.name === 'refresh_token' ? ignoredAtRefresh : ignoredScope
  const parameters = withoutIgnoredScope(received.parameters, client, ignored)
  if (!client.grant_types.includes(grantType.name)) throw refused('grant_type_not_registered')
  parameters.check(grantType.parameters)
  parameters.check(server.plugins.tokenParameters)
  server.limits.issuing.requireRoom(client.client_id)
  const scope = requestedScope(grantType, parameters)
  const restrict: IssueContext['restrict'] = (granted) =>
    restrictToken(server.plugins.restrictors, asked, granted)
  const asked: ReadRequest['asked'] = {
    client,
    parameters,
    grantType: grantType.name,
    requestedScope: scope,
    evidence,
    defaultScope: server.settings.defaultScope,
    context: issueContext(server, client, restrict, evidence),
  }
  return { grantType, asked }
}

function responseTo(
  { settings: { refreshTokenExpiresIn } }: Context,
  { members: further }: GrantResult,
  issued: Issued,
  { now }: IssueContext,
) {
  const response = tokenResponse(issued, now, refreshTokenExpiresIn)
  const members: TokenResponse = further === undefined ? response : { ...further, ...response }
  return { members, headers: issued.headers }
}

function requestedScope(grantType: ServedGrantType, parameters: Parameters): Scope | undefined {
  const text = grantType.parameters.includes('scope') ? parameters.peek('scope') : undefined
  return text === undefined ? undefined : parseScope(text)
}

// V8 makes a new hidden class for each literal with a getter, which keeps its request alive.
class RequestOfClient implements TokenRequest {
  readonly client: Client
  readonly defaultScope: Scope

  constructor(
    private readonly server: Context,
    private readonly asked: AuthenticatedTokenRequest,
    readonly parameters: Parameters,
    readonly context: IssueContext,
  ) {
    this.client = asked.client
    this.defaultScope = server.settings.defaultScope
  }

  get issuer(): string {
    return this.server.settings.issuer
  }

  get findResource() {
    const { resources } = this.server.settings
    return resources && ((uri: string) => resources.find(uri))
  }

  get counters(): Counters {
    return countersOf(this.server.counters, shareOf(this.client, this.address))
  }

  get address(): string | undefined {
    return this.asked.address
  }

  get findAccess() {
    return (accessToken: string): Promise<FoundAccess | undefined> =>
      this.server.store.findAccess(accessToken, this.context.now)
  }
}

function move(
  server: Context,
  { authorizationId: id, transition }: Extract<GrantResult, { readonly transition: unknown }>,
  asked: ReadRequest['asked'],
  { onCommitted, useUp }: AuthenticatedTokenRequest,
): Promise<Issued> {
  const cached = server.store.takeCached(id)
  return commit(server.store, id, transition, asked.context.random, {
    cached,
    onCommitted,
    complete: completing(server, asked),
    useUp,
  })
}

export function beginningOf(
  { settings: { issuer, tokenType } }: Context,
  { client_id: clientId, token_type = tokenType }: Client,
  grantType: string,
  grant: DirectGrant,
  context: IssueContext,
): DecidedToken & Issuance {
  const { subject, scope, oneTimeUse } = grant
  const direct = { ...grant, clientId, tokenType: token_type, subject, scope: distinct(scope) }
  const id = oneTimeUse && idOfUse([issuer, grantType, oneTimeUse.key])
  const { authorization, issued } = issueDirectly(direct, context, id)
  return { authorization, issued, event: issueEvent('issued', issued.scope, newestDigest(authorization)) }
}
