import { AuditLog } from '../audit/audit-log'
import { diagnosisIf } from '../audit/diagnosis'
import type { ClientMarks } from '../authorization/client-marks'
import { countersOfIssuer, issuerDigest } from '../authorization/issuer'
import { guardFinder, signatureFinder } from '../authorization/lookup'
import type { AuthorizationStore } from '../authorization/store'
import type { AccessTokenReader } from '../protocol/access-token-format'
import { tokenObserver } from '../authorization/observe-token'
import type { ServerSettings } from '../config/settings'
import type { GuardSettings } from '../http/settings'
import { RequestContexts } from '../http/request-context'
import { RequestsInFlight } from '../http/requests-in-flight'
import type { Counters } from '../limits/counters'
import type { Confirming } from '../protocol/confirmation'
import { withSingleUseLimit } from '../limits/single-use-limit'
import { countersWithDeadline, withDeadline } from '../stores/deadline'
import type { Storage } from '../stores/storage'
import type { GuardEdge } from '../http/edge'

export function createGuardContext(
  settings: GuardSettings,
  tokens: Pick<GuardEdge, 'findToken' | 'findSignedToken' | 'observeToken' | 'counters'>,
): GuardEdge {
  const { clock, explainRefusals } = settings
  const contexts = new RequestContexts()
  return {
    settings,
    ...tokens,
    now: () => Math.floor(clock() / 1000),
    contexts,
    audit: new AuditLog(clock, (request) => contexts.of(request).notes, diagnosisIf(explainRefusals)),
    requests: new RequestsInFlight(),
  }
}

export function tokenFinders(
  store: AuthorizationStore,
  formats: readonly AccessTokenReader[],
  confirming: Confirming,
): Pick<GuardEdge, 'findToken' | 'findSignedToken'> {
  const findToken = guardFinder(store, formats)
  return { findToken, findSignedToken: signatureFinder(formats, findToken, confirming) }
}

/**
 * Looks again at refused tokens, also of other issuers; undefined if guards explain nothing.
 *
 * @param marks hide what a client got before its mark.
 */
export function observerOf(
  { explainRefusals, issuer, accessTokenFormats }: GuardSettings,
  store: Storage,
  deadline: number,
  marks?: ClientMarks,
): GuardEdge['observeToken'] {
  if (!explainRefusals) return undefined
  const whole = withDeadline(store, deadline)
  return tokenObserver(marks?.forGuards(whole) ?? whole, issuer, accessTokenFormats)
}

export function countersFor(
  { issuer, clock }: GuardSettings,
  {
    counters,
    storeDeadline,
    singleUseLimit,
  }: Pick<ServerSettings, 'counters' | 'storeDeadline' | 'singleUseLimit'>,
): Counters {
  const hurried = countersWithDeadline(counters, storeDeadline)
  return countersOfIssuer(withSingleUseLimit(hurried, singleUseLimit, clock), issuerDigest(issuer))
}
