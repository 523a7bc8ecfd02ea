import { placesOf } from './places'
import table from './rule-table.json'
import type { FindingPlace, Subject } from './subject'

/**
 * `error`: a specification says MUST, or anybody can misuse the server. `warning`: the risk depends on the
 * deployment.
 */
type Severity = 'error' | 'warning'

export interface Finding extends FindingPlace {
  /** Stable: scripts may rely on it, and `--allow` takes it. */
  readonly rule: string
  readonly severity: Severity
  readonly why: string
  readonly cure: string
  /** A specification, or `good practice`. */
  readonly source: string
}

interface LintRule extends Pick<Finding, 'severity' | 'why' | 'cure' | 'source'> {
  readonly id: string
}

export const rules: readonly LintRule[] = Object.entries(table).map(
  ([id, { severity, why, cure, source }]) => ({
    id,
    severity: severity === 'error' ? 'error' : 'warning',
    why,
    cure,
    source,
  }),
)

/** Pure. Errors first, then warnings. */
export function lint(subject: Subject, allowed: readonly string[] = []): readonly Finding[] {
  const findings = rules
    .filter(({ id }) => !allowed.includes(id))
    .flatMap(({ id, severity, why, cure, source }) =>
      placesOf(subject, id).map((place): Finding => {
        const { path, client } = place
        return { rule: id, severity, path, client, why: place.why ?? why, cure, source }
      }),
    )
  return findings.toSorted((one, other) => one.severity.localeCompare(other.severity))
}
