import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { titlesOf } from '../../rules/report/titles'

const root = join(__dirname, '../../..')
const page = readFileSync(join(root, 'docs/reports/security.md'), 'utf8')

interface Row {
  readonly id: string
  readonly source: string
}

function rowsOf(text: string): readonly Row[] {
  return [...text.matchAll(/^\| ([a-z]+-\d+) +\|(.*)\|$/gm)].map(([, id = '', rest = '']) => {
    const columns = rest.split(' | ').map((column) => column.trim())
    return { id, source: columns[1] ?? '' }
  })
}

const [attacks = '', outside = ''] = page.split('## Of the host and of clients')
const rows = rowsOf(attacks)
const all = [...rows, ...rowsOf(outside)]

const bracketed = /\[[a-z]+-\d+[\],]/

/** The ids in brackets at the end of the titles of tests: `refuses … [redirect-1, redirect-7]`. */
function playedAttacks(): ReadonlySet<string> {
  const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  const titles = tests
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(root, 'test', file), 'utf8'))
    // To parse a file takes longer than to search it.
    .filter((source) => bracketed.test(source))
    .flatMap(titlesOf)
  const ids = titles.flatMap(({ text = '' }) => /\[([a-z]+-\d+(?:, [a-z]+-\d+)*)\]$/.exec(text)?.[1] ?? [])
  return new Set(ids.flatMap((list) => list.split(', ')))
}

let played: ReadonlySet<string>
beforeAll(() => {
  played = playedAttacks()
})

test('the page of security has at least 120 attacks, and a test plays each', () => {
  expect(rows.filter(({ id }) => !played.has(id)).map(({ id }) => id)).toEqual([])
  expect(rows.length).toBeGreaterThanOrEqual(120)
})

test('no test plays an attack that the page of security does not have', () => {
  const known = new Set(rows.map(({ id }) => id))
  expect([...played].filter((id) => !known.has(id))).toEqual([])
})

test('the page of security gives each row an id of its own, and a source', () => {
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  const sources = all.flatMap(({ source }) => source.split('; '))
  const forms =
    /^(?:RFC \d{4} [\d.]+|draft-ietf-[a-z-]+ [\d.]+|(?:CVE|GHSA)-[\w-]+ \(.+\)|[\w-]+ issue \d+ \(.+\))$/
  expect(sources.filter((source) => !forms.test(source))).toEqual([])
})

const upTo = (section: string, last: number): readonly string[] =>
  Array.from({ length: last }, (_, index) => `${section}.${index + 1}`)

// Where each document lists its threats: a section stands here even where only a host or a client can stop it.
test.each([
  ['RFC 9700', [...upTo('2', 6), ...upTo('4', 17)]],
  ['RFC 6749', upTo('10', 16)],
  [
    'RFC 6819',
    [
      ...upTo('4.1', 5),
      ...upTo('4.2', 4),
      ...upTo('4.3', 5),
      ...upTo('4.4.1', 13),
      ...upTo('4.4.2', 6),
      ...upTo('4.4.3', 6),
      ...upTo('4.5', 4),
      ...upTo('4.6', 7),
    ],
  ],
])('the page of security passes over no threat of %s', (document, sections) => {
  const sources = all.flatMap(({ source }) => source.split('; '))
  const named = (section: string) =>
    sources.some((source) => `${source}.`.startsWith(`${document} ${section}.`))
  expect(sections.filter((section) => !named(section))).toEqual([])
})
