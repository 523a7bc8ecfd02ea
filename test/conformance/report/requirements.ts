/** A rule of the interface, or of this project, as docs/requirements.md has it. */
export interface Requirement {
  readonly id: string
  /** `must`, `should` or `may`; empty where the list forgot it. */
  readonly strength: string
  /** The rule in words of this project. */
  readonly rule: string
  /** The heading that it stands under. */
  readonly chapter: string
}

const row = /^\| (?<id>[A-Z]+-\d+) *(?:\| (?<strength>must|should|may) *)?\| (?<rule>.*?) *\|$/

/** Reads the list of requirements, row by row. */
export function readRequirements(markdown: string): readonly Requirement[] {
  let chapter = ''
  return markdown.split('\n').flatMap((line) => {
    if (line.startsWith('## ')) chapter = line.slice(3)
    const { id, strength = '', rule = '' } = row.exec(line)?.groups ?? {}
    return id === undefined ? [] : [{ id, strength, rule, chapter }]
  })
}
