import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The rules and the attacks, held against the titles of the tests. */
export interface Conformance {
  /** Both lists, each row with the test files that name its id. */
  readonly report: string
  /** What keeps the lists and the tests from being a proof, each with its cure. */
  readonly faults: readonly string[]
}

const [rulesPage, attacksPage] = ['test/rules/rules.md', 'test/rules/attacks.md'] as const
const rowOfRule = /^\| ([A-Z]+-\d+) +\| (?:must|should|may) +\| [^| ][^|]+\|$/

// A title is a text that stands where it is used. Rule ids begin it, and attack ids end it.
const ruleIds = /['"`]\[([A-Za-z]+-\d+(?:, [A-Za-z]+-\d+)*)\]/g
const attackIds = /\[([a-z]+-\d+(?:, [a-z]+-\d+)*)\]['"`]/g
const silent = /\b(?:test|it|describe\w*)\.(?:skip|todo|failing)\b|\bx(?:it|test|describe)\(/

type FilesById = ReadonlyMap<string, readonly string[]>

/** The proof of the project in this folder. */
export function conformanceOf(root: string): Conformance {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file}`)
    .toSorted()
  const sources = new Map(files.map((file) => [file, read(file)]))
  const [proved, played] = [filesById(sources, ruleIds), filesById(sources, attackIds)]
  const [rules, attacks] = [read(rulesPage), read(attacksPage)]
  return {
    report: [withTests(rules, proved), withTests(attacks, played)].join('\n'),
    faults: [
      ...faultsOfRules(rules, proved),
      ...files.filter((file) => silent.test(read(file))).map((file) => `${file} skips a test.`),
      ...faultsOfAttacks(attacks, played),
    ],
  }
}

function filesById(sources: ReadonlyMap<string, string>, pattern: RegExp): FilesById {
  const found = new Map<string, readonly string[]>()
  for (const [file, source] of sources)
    for (const id of new Set([...source.matchAll(pattern)].flatMap(([, ids = '']) => ids.split(', '))))
      found.set(id, [...(found.get(id) ?? []), file])
  return found
}

/** The page with a further column, and without the spaces that align the others. */
function withTests(page: string, tests: FilesById): string {
  const lines = page.split('\n').map((line) => {
    const [, first] = /^\| (\S+) .*\|$/.exec(line) ?? []
    if (first === undefined) return line
    const added = /^-+$/.test(first) ? '-' : first === 'id' ? 'tests' : (tests.get(first) ?? []).join(', ')
    return `${line.replaceAll(/ {2,}/g, ' ').replaceAll(/-{2,}/g, '-')} ${added} |`
  })
  return lines.join('\n')
}

function faultsOfRules(page: string, proved: FilesById): readonly string[] {
  const rows = page.split('\n').filter((line) => /^\| [A-Z]+-\d+ /.test(line))
  const ids = rows.flatMap((line) => rowOfRule.exec(line)?.[1] ?? [])
  return [
    ...(ids.length === 0 ? [`${rulesPage} lists nothing.`] : []),
    ...rows
      .filter((line) => !rowOfRule.test(line))
      .map((line) => `${rulesPage} has a row that is no rule: ${line}`),
    ...ids.filter((id, at) => ids.indexOf(id) < at).map((id) => `${id} stands in ${rulesPage} twice.`),
    ...ids.flatMap((id) => faultsOfTests(id, proved.get(id) ?? [])),
    ...unknown(proved, new Set(ids), rulesPage),
  ]
}

function faultsOfTests(id: string, [file, ...more]: readonly string[]): readonly string[] {
  if (file === undefined) return [`${id} has no test: name [${id}] in the title of one in test/rules.`]
  if (more.length > 0) return [`${id} stands in ${[file, ...more].join(' and ')}; keep it in one.`]
  return file.startsWith('test/rules/') ? [] : [`${id} stands in ${file}; move it to test/rules.`]
}

const unknown = (named: FilesById, known: ReadonlySet<string>, page: string) =>
  [...named]
    .filter(([id]) => !known.has(id))
    .map(([id, files]) => `${files.join(' and ')} names [${id}], which ${page} does not have.`)

/** Each attack on the server has a test, whatever its folder; those on hosts and clients are not ours to play. */
function faultsOfAttacks(page: string, played: FilesById): readonly string[] {
  const [attacks = ''] = page.split('## Of the host and of clients')
  const ids = [...attacks.matchAll(/^\| ([a-z]+-\d+) /gm)].map(([, id = '']) => id)
  const untested = ids.filter((id) => !played.has(id))
  return [
    ...untested.map((id) => `${id} of ${attacksPage} has no test: end the title of one with [${id}].`),
    ...unknown(played, new Set(ids), attacksPage),
  ]
}
