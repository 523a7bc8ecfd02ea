import { grantableScope } from '../../../protocol/grantable-scope'
import { invalidRequest, invalidScope, invalidTarget } from '../../../protocol/oauth-error'
import { covers, formatScope, type Scope } from '../../../protocol/scope'
import type { GrantResult } from '../../grant-type'
import { actorsAtMost, type ExchangeHistory } from './exchange-history'
import type { ApprovedExchange, ExchangeRequest } from './policy'
import { tokenExchangeName } from './identifiers'

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
