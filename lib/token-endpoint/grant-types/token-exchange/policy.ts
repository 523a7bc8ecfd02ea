import type { Client } from '../../../protocol/client'
import { isRecord, isTexts, OptionsReader } from '../../../protocol/configuration'
import type { Json } from '../../../protocol/extension'
import { invalidRequest, invalidScope, invalidTarget } from '../../../protocol/oauth-error'
import { isSubject, subjectCure } from '../../../protocol/resource-owner'
import {
  covers,
  distinct,
  formatScope,
  grantableScope,
  isScope,
  type Scope,
  scopeCure,
} from '../../../protocol/scope'
import type { GrantResult } from '../../grant-type'
import { tokenExchangeName } from './exchange-parameters'
import type { SecurityToken } from './security-token'

/** What a policy decides about. Every token in it is good right now. */
export interface ExchangeRequest {
  /** Who asks: authenticated, or, if it is public, merely named. */
  readonly client: Client
  /** In whose name a token is asked for. */
  readonly subject: SecurityToken
  /** Who will act for the subject; undefined asks for impersonation (RFC 8693 1.1). */
  readonly actor: SecurityToken | undefined
  /** As asked for; undefined when the request names none. */
  readonly scope: Scope | undefined
  /** Absolute URIs of the services that the token is for, as asked for. */
  readonly resource: readonly string[]
  /** Names of the services that the token is for, as asked for. */
  readonly audience: readonly string[]
}

/** What a policy grants. */
export interface ExchangeApproval {
  /** The resource owner in whose name the new token is. */
  readonly subject: string
  /**
   * Exactly this, even if it is more than the subject token or the client has. Left out: what was asked for, as far as
   * both have it.
   */
  readonly scope?: Scope | undefined
  /**
   * The targets that the token is for, told by introspection as `aud`. A request that names a `resource` or an
   * `audience` is refused without it. Left out or empty: that of the subject token.
   */
  readonly audience?: readonly string[] | undefined
}

/**
 * Decides about an exchange: undefined refuses it. It may throw an OAuth error of its own, such as `invalidTarget`.
 */
export type ExchangePolicy = (
  request: ExchangeRequest,
) => ExchangeApproval | undefined | Promise<ExchangeApproval | undefined>

/** An approval, proven to be one. */
export interface ApprovedExchange {
  readonly subject: string
  readonly scope: Scope | undefined
  /** Empty when the policy names none. */
  readonly audience: readonly string[]
}

/** @throws ConfigurationError when the host's policy returned something else than it promises. */
export function readApproval(answer: unknown): ApprovedExchange {
  const reading = new OptionsReader(answer, 'policy()')
  const subject = reading.required('subject', '', isSubject, subjectCure)
  const scope = reading.optional<Scope | undefined>('scope', undefined, isScope, scopeCure)
  const audience = reading.optional('audience', [], isTexts, 'must be a list of texts.')
  reading.refuseUnknown()
  reading.settle('The policy of tokenExchange() returned an answer that cannot be read:')
  return { subject, scope: scope && distinct(scope), audience }
}

type ExchangedGrant = Extract<GrantResult, { readonly grant: unknown }>['grant']

/**
 * What an approved exchange grants.
 *
 * @throws OAuthError `invalid_target`, `invalid_scope`, or `invalid_request` for too long a chain of actors.
 */
export function exchangedGrant(exchange: ExchangeRequest, approval: ApprovedExchange): ExchangedGrant {
  const { subject, actor, resource, audience } = exchange
  // A policy that does not look at targets must not pass for one that accepts them.
  if (approval.audience.length === 0 && resource.length + audience.length > 0)
    throw invalidTarget('target_refused', 'No token is issued for the resource or audience.')
  return {
    subject: approval.subject,
    scope: approval.scope ?? commonScope(exchange),
    refreshToken: false,
    extensionData: extensionDataOf({
      actors: actorsOf(exchange),
      audience: approval.audience.length > 0 ? approval.audience : subject.audience,
    }),
    expiresAt: Math.min(subject.expiresAt, actor?.expiresAt ?? subject.expiresAt),
  }
}

function commonScope({ scope: asked, client, subject }: ExchangeRequest): Scope {
  const scope = grantableScope(asked && formatScope(asked), client, subject.scope)
  if (!covers(subject.scope, scope))
    throw invalidScope('scope_exceeded', 'The scope is more than was granted.')
  return scope
}

// RFC 8693 4.1: the current actor first, and behind it the ones before. Impersonation does not cut the chain.
function actorsOf({ subject, actor }: ExchangeRequest): readonly string[] {
  if (actor === undefined) return subject.actors
  const actors = [actor.subject === undefined ? actor.clientId : actor.subject, ...subject.actors]
  if (actors.length > actorsAtMost)
    throw invalidRequest('actor_chain_too_long', 'The token was exchanged by too many actors.')
  return actors
}

const extensionDataOf = ({ actors, audience }: ExchangeHistory): ExchangedGrant['extensionData'] =>
  actors.length + audience.length === 0 ? {} : { [tokenExchangeName]: { actors, audience } }

/** What an exchange keeps with the authorization that it begins. */
export interface ExchangeHistory {
  /** Who acts for the subject, the last one first (RFC 8693 4.1). Empty for impersonation. */
  readonly actors: readonly string[]
  /** The targets that the token is for; empty when it names none. */
  readonly audience: readonly string[]
}

/** A chain that is longer than this is refused: it would grow a record without end. */
export const actorsAtMost = 8

/** What an exchange kept; an authorization of another origin has no history. */
export function historyIn(data: Json | undefined): ExchangeHistory {
  const fields = isRecord(data) ? data : {}
  return { actors: textsIn(fields['actors']), audience: textsIn(fields['audience']) }
}

/** As introspection tells it: `act` (RFC 8693 4.1) and `aud` (RFC 7662 2.2). */
export function introspectedHistory(data: Json): Readonly<Record<string, Json>> {
  const { actors, audience } = historyIn(data)
  const act = actors.reduceRight<Json | undefined>(
    (earlier, sub) => (earlier === undefined ? { sub } : { sub, act: earlier }),
    undefined,
  )
  return { ...(act === undefined ? {} : { act }), ...(audience.length === 0 ? {} : { aud: audience }) }
}

/** The actors of a claim `act`, the last one first; undefined when it is malformed or too long. */
export function actorsIn(act: unknown): readonly string[] | undefined {
  const actors: unknown[] = []
  for (let next = act; next !== undefined; next = isRecord(next) ? next['act'] : undefined) {
    if (actors.length === actorsAtMost) return undefined
    actors.push(isRecord(next) ? next['sub'] : undefined)
  }
  return isTexts(actors) ? actors : undefined
}

const textsIn = (value: unknown): readonly string[] => (isTexts(value) ? value : [])
