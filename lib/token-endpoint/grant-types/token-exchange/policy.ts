import { someTexts } from '../../../primitives/fields'
import { exactShape, kind, optional, requireShape } from '../../../primitives/schema'
import type { FoundAccess } from '../../../authorization/lookup'
import type { Client } from '../../../protocol/client'
import { refused } from '../../../protocol/refusals'
import { isSubject, subjectExpectation } from '../../../protocol/resource-owner'
import {
  covers,
  distinct,
  formatScope,
  grantableScope,
  isScope,
  type Scope,
  scopeRefusal,
  scopeExpectation,
} from '../../../protocol/scope'
import type { GrantResult } from '../../../authorization/grant-type'
import { actorsAtMost, historyData } from './exchange-history'
import type { SecurityToken } from './security-token'

/** All its tokens are valid now. */
export interface ExchangeRequest {
  /** A public client has perhaps only named itself. */
  readonly client: Client
  /** The subject token: the client asks for a new token in the name of its subject (RFC 8693 2.1). */
  readonly subject: SecurityToken
  /** The party that will act for the subject. Undefined for impersonation (RFC 8693 1.1). */
  readonly actor: SecurityToken | undefined
  /** Undefined if not requested. */
  readonly scope: Scope | undefined
  /** Absolute URIs of the services that the new token is for; may be empty. */
  readonly resource: readonly string[]
  /** Names of the services that the new token is for; may be empty. */
  readonly audience: readonly string[]
}

export interface ExchangeApproval {
  /** The resource owner of the new token: a text of 1 to 1024 characters. */
  readonly subject: string
  /**
   * Exactly the scope of the new token, perhaps more than the subject token or the client has. Default: the
   * requested scope, which both must have; without one, all that both have.
   */
  readonly scope?: Scope | undefined
  /**
   * The targets of the new token, as introspection shows them in `aud`: it is for these alone. With the option
   * `resources`, no guard of a resource accepts a token for other targets. Without this member, the server
   * refuses a request with `resource` or `audience` (`invalid_target`). Default: the targets of the subject
   * token.
   */
  readonly audience?: readonly string[] | undefined
}

/**
 * Undefined refuses the exchange (`invalid_request`). The policy may throw an OAuth error, such as `invalidTarget`. Any
 * other result gives `server_error`.
 */
export type ExchangePolicy = (
  request: ExchangeRequest,
) => ExchangeApproval | undefined | Promise<ExchangeApproval | undefined>

type ApprovedExchange = Required<ExchangeApproval> & { readonly audience: readonly string[] }

/** @throws TypeError */
export function readApproval(answer: unknown): ApprovedExchange {
  const subject = 'The policy of tokenExchange() returned an answer that cannot be read:'
  const approval = requireShape(approvalShape, answer, subject, undefined)
  return {
    subject: approval.subject,
    scope: approval.scope && distinct(approval.scope),
    audience: approval.audience ?? [],
  }
}

const approvalShape = exactShape<ExchangeApproval>({
  subject: kind(isSubject, subjectExpectation),
  scope: optional(kind(isScope, scopeExpectation)),
  audience: optional(someTexts),
})

type ExchangedGrant = Extract<GrantResult, { readonly grant: unknown }>['grant']

export function exchangedGrant(
  exchange: ExchangeRequest,
  approval: ApprovedExchange,
  subjectToken: FoundAccess | undefined,
): ExchangedGrant {
  const { subject, actor, resource, audience } = exchange
  // A policy that ignores targets must not look like one that accepts them.
  if (approval.audience.length === 0 && resource.length + audience.length > 0)
    throw refused('target_refused', { sent: [...resource, ...audience] })
  return {
    subject: approval.subject,
    scope: approval.scope ?? commonScope(exchange),
    refreshToken: false,
    extensionData: historyData({
      actors: actorsOf(exchange),
      audience: approval.audience.length > 0 ? approval.audience : subject.audience,
    }),
    expiresAt: Math.min(subject.expiresAt, actor?.expiresAt ?? subject.expiresAt),
    // Bounds the new token by the exchanged one, whatever the policy returns.
    subjectToken,
    audience: approval.audience,
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
