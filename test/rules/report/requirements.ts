/** The page of the requirements: people write the rules, and `npm run conformance` writes the column of the tests. */
export const pageOfConformance = 'docs/reports/conformance.md'

/** A rule of the interface, or of this project, as a row of docs/reports/conformance.md has it. */
export interface Requirement {
  readonly id: string
  /** `must`, `should` or `may`; empty where the list forgot it. */
  readonly strength: string
  /** The rule in words of this project. */
  readonly rule: string
}

// The last cell has the tests, which `npm run conformance` writes; a new row may lack it.
const row =
  /^\| (?<id>[A-Z]+-\d+) *(?:\| (?<strength>must|should|may) *)?\| (?<rule>[^|]*?) *\|(?: [^|]*\|)?$/

/** The requirement of one row of the table; undefined for every other line. */
export function readRequirement(line: string): Requirement | undefined {
  const { id, strength = '', rule = '' } = row.exec(line)?.groups ?? {}
  return id === undefined ? undefined : { id, strength, rule }
}

/** Reads the list of requirements, row by row. */
export function readRequirements(markdown: string): readonly Requirement[] {
  return markdown.split('\n').flatMap((line) => readRequirement(line) ?? [])
}
