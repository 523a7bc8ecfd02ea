import { AuditLog } from '../audit/audit-log'
import { Diagnosis } from '../audit/diagnosis'
import type { ClientMarks } from '../authorization/client-marks'
import { issuerDigest } from '../authorization/issuer'
import { accessFinder, signatureFinder, tokenObserver } from '../authorization/lookup'
import type { GuardEdge, GuardSettings } from '../http/edge'
import { RequestsInFlight } from '../http/requests-in-flight'
import type { Limit } from '../limits/limit'
import { singleUses } from '../limits/counters'
import { secondsOf } from '../primitives/clock'
import { privateState } from '../primitives/private-state'
import type { TokenSource } from '../resource-server/admit'
import type { Store } from '../store/store'
import type { TimelyStore } from '../store/deadline'
import { authorizationsIn, countersIn } from '../stores/records'

export function guardEdge(
  settings: GuardSettings & { readonly limits: { readonly singleUses: Limit | undefined } },
  counters: Store,
  source: TokenSource,
): GuardEdge {
  const { clock, explainRefusals, issuer, limits } = settings
  return {
    settings,
    ...source,
    counters: countersIn(counters, issuerDigest(issuer), singleUses(limits.singleUses, clock)),
    now: secondsOf(clock),
    usedOnce: privateState(),
    audit: new AuditLog(clock, explainRefusals ? new Diagnosis() : undefined),
    requests: new RequestsInFlight(),
  }
}

/** @param marks hide what a client got before its mark. */
export function lookUpIn(
  settings: GuardSettings,
  store: TimelyStore,
  marks: ClientMarks | undefined,
): TokenSource {
  const { accessTokenFormats: formats, explainRefusals, issuer, clock } = settings
  const markedOf = (ownDigest?: string) => {
    const records = authorizationsIn(store, clock, ownDigest)
    return marks?.forGuards(records) ?? records
  }
  const findToken = accessFinder(markedOf(issuerDigest(issuer)), formats)
  return {
    findToken,
    findSignedToken: signatureFinder(formats, findToken, settings),
    // Records of other issuers explain refusals.
    observeToken: explainRefusals ? tokenObserver(markedOf(), issuer, formats) : undefined,
  }
}
