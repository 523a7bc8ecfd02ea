import type { Client } from '../../../protocol/client'
import { isTexts, OptionsReader } from '../../../protocol/configuration'
import { isSubject, subjectCure } from '../../../protocol/resource-owner'
import { distinct, isScope, scopeCure, type Scope } from '../../../protocol/scope'
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
