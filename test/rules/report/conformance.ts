import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The page of the rules: people write them, and `npm run conformance` writes the column of the tests. */
export const pageOfConformance = 'docs/reports/conformance.md'
const pageOfSecurity = 'docs/reports/security.md'

/** A rule as a row of the page has it. */
export interface Requirement {
  readonly id: string
  /** `must`, `should` or `may`; empty where the page forgot it. */
  readonly strength: string
  readonly rule: string
}

/** Which test file proves which rule. */
export interface Conformance {
  readonly requirements: readonly Requirement[]
  /** The files whose titles name an id: one, where all is well. */
  readonly testsOf: (id: string) => readonly string[]
  /** What keeps the pages and the tests from being a proof, each with its cure. */
  readonly faults: readonly string[]
}

const row =
  /^\| (?<id>[A-Z]+-\d+) *(?:\| (?<strength>must|should|may) *)?\| (?<rule>[^|]*?) *\|(?: [^|]*\|)?$/

/** The rule in a line of the page; undefined for every other line. */
export function readRequirement(line: string): Requirement | undefined {
  const { id, strength = '', rule = '' } = row.exec(line)?.groups ?? {}
  return id === undefined ? undefined : { id, strength, rule }
}

// A title is a text that stands where it is used. Rule ids begin it, and attack ids end it.
const ruleIds = /['"`]\[([A-Za-z]+-\d+(?:, [A-Za-z]+-\d+)*)\]/g
const attackIds = /\[([a-z]+-\d+(?:, [a-z]+-\d+)*)\]['"`]/g
const silent = /\b(?:test|it|describe\w*)\.(?:skip|todo|failing)\b|\bx(?:it|test|describe)\(/

const idsIn = (source: string, pattern: RegExp): readonly string[] => [
  ...new Set([...source.matchAll(pattern)].flatMap(([, ids = '']) => ids.split(', '))),
]

/** The rules and the attacks of the project in this folder, held against the titles of its tests. */
export function conformanceOf(root: string): Conformance {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const requirements = read(pageOfConformance)
    .split('\n')
    .flatMap((line) => readRequirement(line) ?? [])
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file}`)
    .toSorted()
  const sources = new Map(files.map((file) => [file, read(file)]))
  const filesByRule = filesById(sources, ruleIds)
  const testsOf = (id: string) => filesByRule.get(id) ?? []
  return {
    requirements,
    testsOf,
    faults: [
      ...faultsOfPage(requirements),
      ...requirements.flatMap(({ id }) => faultsOfTests(id, testsOf(id))),
      ...unknown(filesByRule, new Set(requirements.map(({ id }) => id)), pageOfConformance),
      ...files.filter((file) => silent.test(read(file))).map((file) => `${file} skips a test.`),
      ...faultsOfAttacks(read(pageOfSecurity), filesById(sources, attackIds)),
    ],
  }
}

function filesById(sources: ReadonlyMap<string, string>, pattern: RegExp) {
  const found = new Map<string, readonly string[]>()
  for (const [file, source] of sources)
    for (const id of idsIn(source, pattern)) found.set(id, [...(found.get(id) ?? []), file])
  return found
}

function faultsOfPage(requirements: readonly Requirement[]): readonly string[] {
  const ids = requirements.map(({ id }) => id)
  return [
    ...(ids.length === 0 ? [`${pageOfConformance} lists nothing.`] : []),
    ...ids
      .filter((id, index) => ids.indexOf(id) < index)
      .map((id) => `${id} stands in ${pageOfConformance} twice.`),
    ...requirements
      .filter(({ strength, rule }) => strength === '' || rule === '')
      .map(({ id }) => `${id} has no strength or no rule in ${pageOfConformance}.`),
  ]
}

function faultsOfTests(id: string, [file, ...more]: readonly string[]): readonly string[] {
  if (file === undefined) return [`${id} has no test: name [${id}] in the title of one in test/rules.`]
  if (more.length > 0) return [`${id} stands in ${[file, ...more].join(' and ')}; keep it in one.`]
  return file.startsWith('test/rules/') ? [] : [`${id} stands in ${file}; move it to test/rules.`]
}

const unknown = (named: ReadonlyMap<string, readonly string[]>, known: ReadonlySet<string>, page: string) =>
  [...named]
    .filter(([id]) => !known.has(id))
    .map(([id, files]) => `${files.join(' and ')} names [${id}], which ${page} does not have.`)

/** Each attack on the server has a test, whatever its folder; those on hosts and clients are not ours to play. */
function faultsOfAttacks(page: string, played: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const [attacks = ''] = page.split('## Of the host and of clients')
  const ids = [...attacks.matchAll(/^\| ([a-z]+-\d+) /gm)].map(([, id = '']) => id)
  const untested = ids.filter((id) => !played.has(id))
  return [
    ...untested.map((id) => `${id} of ${pageOfSecurity} has no test: end the title of one with [${id}].`),
    ...unknown(played, new Set(ids), pageOfSecurity),
  ]
}
