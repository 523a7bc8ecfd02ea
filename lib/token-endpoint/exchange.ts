import { begin, commit } from '../authorization/commit'
import { complete, completes, completing, type Recipient } from '../authorization/complete-issue'
import { type Begun, type Issued, issueDirectly } from '../authorization/issue'
import { idOfUse } from '../authorization/authorization'
import type { IssueContext, OnCommitted } from '../authorization/transition'
import type { Client } from '../protocol/client'
import type { EndpointRequest } from '../protocol/endpoint'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import { distinct, parseScope, type Scope, withoutIgnoredScope } from '../protocol/scope'
import { shareOf } from '../limits/shares'
import { countersOf } from '../limits/counters'
import { tokenResponse, type TokenResponse } from '../extensions/token-types/bearer'
import { issueContext, type Context } from '../doors/context'
import type { DirectGrant, GrantResult, ServedGrantType, TokenRequest } from '../authorization/grant-type'
import { restrictToken } from '../authorization/restrict'

interface AuthenticatedTokenRequest extends Pick<
  EndpointRequest,
  'client' | 'parameters' | 'evidence' | 'address' | 'useUp'
> {
  readonly onCommitted?: OnCommitted
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
      : await grantType.handle(shownRequest(server, received, asked))
  const { onCommitted, useUp } = received
  if ('transition' in result) {
    const { authorizationId: id, transition } = result
    const terms = {
      cached: server.store.takeCached(id),
      onCommitted,
      complete: completing(server, asked),
      useUp,
    }
    const moved = await commit(server.store, id, transition, context.random, terms)
    return responseTo(server, result, moved, context)
  }
  const begun = beginningOf(server, asked.client, grantType.name, result.grant, context)
  const { issued, event } = completes(server) ? await complete(server, begun, asked) : begun
  if (useUp !== undefined) await useUp()
  await begin(server.store, begun.authorization, context.random, result.grant.oneTimeUse?.refusal)
  onCommitted?.({ authorization: begun.authorization, event })
  return responseTo(server, result, issued, context)
}

type AskedGrant = Recipient & Pick<TokenRequest, 'client' | 'parameters' | 'context' | 'defaultScope'>

function readRequest(
  server: Context,
  received: AuthenticatedTokenRequest,
): { readonly grantType: ServedGrantType; readonly asked: AskedGrant } {
  const { client, evidence } = received
  const { grantTypes, ignoredScope, ignoredAtRefresh } = server.plugins
  const sent = received.parameters.require('grant_type')
  const grantType = grantTypes.get(sent)
  if (grantType === undefined) throw refused('grant_type_unknown', { sent, known: [...grantTypes.keys()] })
  // RFC 6749 6: a scope beyond that of the grant is a mistake.
  const ignored = grantType.name === 'refresh_token' ? ignoredAtRefresh : ignoredScope
  const parameters = withoutIgnoredScope(received.parameters, client, ignored)
  if (!client.grant_types.includes(sent)) throw refused('grant_type_not_registered', { sent })
  parameters.check(grantType.parameters)
  parameters.check(server.plugins.tokenParameters)
  server.limits.issuing.requireRoom(client.client_id)
  const restrict: IssueContext['restrict'] = (granted) =>
    restrictToken(server.plugins.restrictors, asked, granted)
  const asked = {
    client,
    parameters,
    grantType: grantType.name,
    requestedScope: requestedScope(grantType, parameters),
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

/** What a grant type of a plug-in sees. */
function shownRequest(
  { settings, store, counters }: Context,
  { address }: AuthenticatedTokenRequest,
  { client, parameters, context, defaultScope }: AskedGrant,
): TokenRequest {
  const { issuer, resources } = settings
  return {
    client,
    parameters,
    issuer,
    context,
    defaultScope,
    address,
    findResource: resources && ((uri) => resources.find(uri)),
    counters: countersOf(counters, shareOf(client, address)),
    findAccess: (accessToken) => store.findAccess(accessToken, context.now),
  }
}

export function beginningOf(
  { settings: { issuer, tokenType } }: Context,
  { client_id: clientId, token_type = tokenType }: Client,
  grantType: string,
  grant: DirectGrant,
  context: IssueContext,
): Begun {
  const { subject, scope, oneTimeUse } = grant
  const direct = { ...grant, clientId, tokenType: token_type, subject, scope: distinct(scope) }
  return issueDirectly(direct, context, oneTimeUse && idOfUse([issuer, grantType, oneTimeUse.key]))
}
