import { optional, requireShape, shape } from '../primitives/schema'
import type { RequestedAuthorization } from '../authorization/authorization'
import type { PlugIns } from '../doors/plug-ins'
import type { Client } from '../protocol/client'
import { dataOf } from '../protocol/extension-data'
import type { DecisionTerms } from '../protocol/extension-decision'
import { type Json, keepable } from '../protocol/json'
import { distinct, type Scope, scopeWithin, unavailableScope } from '../protocol/scope'
import { type Granted, hasOffer, withoutOffer } from './consent-offer'

/** Pure: a conflict in the store calls it again. */
export function settleDecision<
  Requested extends Pick<RequestedAuthorization, 'subject' | 'scope' | 'extensionData'>,
>(
  deciders: PlugIns['atDecision'],
  client: Client,
  requested: Requested,
  { scope: granted, answer }: Granted,
): Requested {
  if (deciders.length === 0 && granted === requested.scope && !hasOffer(requested.extensionData))
    return requested
  let scope = granted
  const kept: Record<string, Json> = {}
  const before = withoutOffer(requested.extensionData)
  for (const extension of deciders) {
    const { name } = extension
    const given = answer?.extension === name ? { name: answer.name, value: answer.value } : undefined
    const authorizationData = dataOf(name, before)
    const { subject } = requested
    const decided: unknown = extension.atDecision({
      client,
      subject,
      scope,
      answer: given,
      authorizationData,
    })
    if (decided === undefined) continue
    const mistake = `The extension "${name}" returned a wrong result for a decision:`
    const terms = requireShape(termsShape, decided, mistake, scope)
    scope = distinct(terms.scope ?? scope)
    if (scope.length === 0 && granted.length > 0) throw unavailableScope(granted)
    if (terms.authorizationData !== undefined) kept[name] = terms.authorizationData
  }
  return { ...requested, scope, extensionData: { ...before, ...kept } }
}

// A mistake of a host must never widen what the owner has approved.
const termsShape = shape<DecisionTerms, Scope>({
  scope: scopeWithin('the scope that the owner approved'),
  authorizationData: optional(keepable),
})
