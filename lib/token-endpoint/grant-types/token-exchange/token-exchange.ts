import type { DirectGrant, GrantType, TokenRequest } from '../../../authorization/grant-type'
import type { FoundAccess } from '../../../authorization/lookup'
import type { Plugin } from '../../../doors/plug-in'
import { requireResourceUris } from '../../../extensions/resource-indicators/resource-indicators'
import { aCall, someTexts } from '../../../primitives/fields'
import {
  type Fields,
  exactShape,
  kind,
  needed,
  optional,
  type Place,
  readOptions,
  requireShape,
} from '../../../primitives/schema'
import { isRecord } from '../../../primitives/values'
import type { Client } from '../../../protocol/client'
import type { Parameters } from '../../../protocol/parameters'
import { refused } from '../../../protocol/refusals'
import { isSubject, subjectExpectation } from '../../../protocol/resource-owner'
import {
  covers,
  formatScope,
  grantableScope,
  isScope,
  malformedScope,
  parseScope,
  type Scope,
  scopeExpectation,
  scopeRefusal,
} from '../../../protocol/scope'
import { isAbsoluteUri } from '../../../protocol/uri'
import {
  accessTokenType,
  actorsAtMost,
  historyData,
  introspectedHistory,
  proveSecurityToken,
  refreshTokenType,
  type SecurityToken,
  type SecurityTokenTypes,
  tokenExchangeName,
  type VerifySecurityToken,
} from './security-token'

export interface TokenExchangeOptions {
  /** No default: only the host knows what to allow. */
  readonly policy: ExchangePolicy
  /**
   * Verify the tokens of other parties, by token type identifier: an absolute URI, such as
   * `urn:ietf:params:oauth:token-type:jwt`. Default: only access tokens of this server.
   */
  readonly tokenTypes?: Readonly<Record<string, VerifySecurityToken>>
}

/** All its tokens are valid now. */
export interface ExchangeRequest {
  /** A public client may only have named itself. */
  readonly client: Client
  /** The new token is in the name of its subject (RFC 8693 2.1). */
  readonly subject: SecurityToken
  /** The party that will act for the subject. Undefined for impersonation (RFC 8693 1.1). */
  readonly actor: SecurityToken | undefined
  /** Undefined if not requested. */
  readonly scope: Scope | undefined
  /** Absolute URIs of the services for the new token; may be empty. */
  readonly resource: readonly string[]
  /** Names of the services for the new token; may be empty. */
  readonly audience: readonly string[]
}

export interface ExchangeApproval {
  /** The resource owner of the new token: a text of 1 to 1024 characters. */
  readonly subject: string
  /**
   * The scope of the new token, perhaps more than the subject token or the client has. Default: the requested
   * scope, which both must have; without one, all that both have.
   */
  readonly scope?: Scope | undefined
  /**
   * The only targets of the new token, `aud` of an introspection. Without this member, the server refuses a
   * request with `resource` or `audience` (`invalid_target`). Default: the targets of the subject token.
   */
  readonly audience?: readonly string[] | undefined
}

/**
 * Undefined refuses the exchange (`invalid_request`). The policy may throw an OAuth error, such as
 * `invalidTarget`. Any other result gives `server_error`.
 */
export type ExchangePolicy = (
  request: ExchangeRequest,
) => ExchangeApproval | undefined | Promise<ExchangeApproval | undefined>

/**
 * Token exchange, `urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693): a client exchanges a token
 * that it received for an access token of this server. The policy decides in whose name. The new token has no
 * refresh token, expires no later than the exchanged tokens, and outlives their revocation.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function tokenExchange(options: TokenExchangeOptions): Plugin {
  const { policy, tokenTypes } = readOptions('tokenExchange()', fields, options)
  const grantType: GrantType = {
    name: tokenExchangeName,
    // RFC 8693 2.1: others may repeat.
    parameters:
      'subject_token subject_token_type actor_token actor_token_type requested_token_type scope'.split(' '),
    refreshTokens: false,
    introspect: introspectedHistory,
    async handle(request) {
      const { exchange, subjectToken } = await readExchange(request, tokenTypes)
      const answer: unknown = await policy(exchange)
      if (answer === undefined) throw refused('exchange_refused')
      const subject = 'The policy of tokenExchange() returned an answer that cannot be read:'
      const approval = requireShape(approvalShape, answer, subject, undefined)
      return {
        // Bounded by the exchanged token, whatever the policy returns.
        grant: { ...exchangedGrant(exchange, approval), subjectToken },
        // RFC 8693 2.2.1.
        members: { issued_token_type: accessTokenType },
      }
    },
  }
  return { name: 'token-exchange', grantTypes: [grantType] }
}

// Characters of all targets together: a policy may store them.
const targetsAtMost = 4096

async function readExchange(
  request: TokenRequest,
  tokenTypes: SecurityTokenTypes,
): Promise<{ readonly exchange: ExchangeRequest; readonly subjectToken: FoundAccess | undefined }> {
  const { client, parameters } = request
  const requested = parameters.get('requested_token_type')
  if (requested !== undefined && requested !== accessTokenType)
    throw refused('requested_token_type_unsupported')
  const subjectToken = presentedAs('subject_token', parameters, tokenTypes)
  const hasActor = parameters.get('actor_token') !== undefined
  // RFC 8693 2.1.
  if (!hasActor && parameters.get('actor_token_type') !== undefined) throw refused('actor_token_missing')
  const actorToken = hasActor ? presentedAs('actor_token', parameters, tokenTypes) : undefined
  const text = parameters.get('scope')
  const scope = text === undefined ? undefined : parseScope(text)
  if (text !== undefined && scope === undefined) throw malformedScope(text)
  const [resource, audience] = [parameters.all('resource'), parameters.all('audience')]
  if ([...resource, ...audience].join('').length > targetsAtMost) throw refused('targets_too_large')
  // RFC 8693 2.1, RFC 8707 2
  requireResourceUris(resource)
  const subject = await proveSecurityToken(subjectToken, request, tokenTypes)
  if (subject === undefined) throw refused('subject_token_refused')
  const actor = actorToken && (await proveSecurityToken(actorToken, request, tokenTypes))
  if (hasActor && actor === undefined) throw refused('actor_token_refused')
  const exchange = { client, subject: subject.content, actor: actor?.content, scope, resource, audience }
  return { exchange, subjectToken: subject.access }
}

function presentedAs(name: string, parameters: Parameters, tokenTypes: SecurityTokenTypes) {
  const token = parameters.require(name)
  const tokenType = parameters.require(`${name}_type`)
  if (tokenType !== accessTokenType && !tokenTypes.has(tokenType))
    throw refused('security_token_type_unsupported')
  return { token, tokenType }
}

const approvalShape = exactShape<ExchangeApproval>({
  subject: kind(isSubject, subjectExpectation),
  scope: optional(kind(isScope, scopeExpectation)),
  audience: optional(someTexts),
})

function exchangedGrant(
  exchange: ExchangeRequest,
  { subject: owner, scope, audience: targets = [] }: ExchangeApproval,
): DirectGrant {
  const { subject, actor, resource, audience } = exchange
  // A policy that ignores targets must not look like one that accepts them.
  if (targets.length === 0 && resource.length + audience.length > 0)
    throw refused('target_refused', { sent: [...resource, ...audience] })
  return {
    subject: owner,
    scope: scope ?? commonScope(exchange),
    refreshToken: false,
    extensionData: historyData({
      actors: actorsOf(exchange),
      audience: targets.length > 0 ? targets : subject.audience,
    }),
    expiresAt: Math.min(subject.expiresAt, actor?.expiresAt ?? subject.expiresAt),
    audience: targets,
  }
}

function commonScope({ scope: asked, client, subject }: ExchangeRequest): Scope {
  const scope = grantableScope(asked && formatScope(asked), client, subject.scope)
  if (!covers(subject.scope, scope))
    throw scopeRefusal('scope_exceeded/exchange', scope, subject.scope, {
      'scope of the subject token': subject.scope,
    })
  return scope
}

// RFC 8693 4.1: the current actor first. Impersonation changes no chain.
function actorsOf({ subject, actor }: ExchangeRequest): readonly string[] {
  if (actor === undefined) return subject.actors
  const actors = [actor.subject === undefined ? actor.clientId : actor.subject, ...subject.actors]
  if (actors.length > actorsAtMost) throw refused('actor_chain_too_long')
  return actors
}

const fields = {
  policy: needed(
    () => undefined,
    aCall<ExchangePolicy>('must be a function that decides about an exchange.'),
  ),
  tokenTypes: securityTokenTypes,
} satisfies Fields<TokenExchangeOptions>

const verifiers = kind(isRecord, 'must be an object from token type identifiers to functions.')
const verifier = aCall<VerifySecurityToken>('must be a function that returns the claims of a good token.')

function securityTokenTypes(given: unknown, at: Place, name: string): SecurityTokenTypes {
  const read = new Map<string, VerifySecurityToken>()
  for (const [tokenType, verify] of Object.entries(optional(verifiers)(given, at, name) ?? {})) {
    const path = `${name}["${tokenType}"]`
    const problem = problemOf(tokenType)
    if (problem !== undefined) at.wrong(path, problem)
    else read.set(tokenType, needed(() => undefined, verifier)(verify, at, path))
  }
  return read
}

function problemOf(tokenType: string): string | undefined {
  if (tokenType === accessTokenType) return 'is verified by the server itself: remove it.'
  if (tokenType === refreshTokenType)
    return 'is never accepted, because a refresh token is good at its own grant only: remove it.'
  if (!isAbsoluteUri(tokenType))
    return 'must be an absolute URI, such as urn:ietf:params:oauth:token-type:jwt.'
  return undefined
}
