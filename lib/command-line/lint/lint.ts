import { clientRules, redirectionRules } from './client-rules'
import { grantRules, lifetimeRules } from './grant-rules'
import type { Finding, FindingPlace, LintRule, Subject } from './lint-rule'
import { consentRules, limitRules, serverRules, strangerRules } from './server-rules'

export const rules: readonly LintRule[] = [
  ...serverRules,
  ...strangerRules,
  ...consentRules,
  ...lifetimeRules,
  ...limitRules,
  ...grantRules,
  ...redirectionRules,
  ...clientRules,
]

/** Pure. Errors first, then warnings. */
export function lint(subject: Subject, allowed: readonly string[] = []): readonly Finding[] {
  const findings = rules
    .filter(({ id }) => !allowed.includes(id))
    .flatMap((rule) => rule.places(subject).map((place) => findingOf(rule, place)))
  return [
    ...findings.filter(({ severity }) => severity === 'error'),
    ...findings.filter(({ severity }) => severity === 'warning'),
  ]
}

function findingOf({ id, severity, why, cure, source }: LintRule, place: FindingPlace): Finding {
  const { path, client } = place
  return { rule: id, severity, path, client, why: place.why ?? why, cure, source }
}
