import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(__dirname, '../..')
const page = readFileSync(join(root, 'docs/security.md'), 'utf8')

interface Row {
  readonly id: string
  readonly source: string
  /** What stands in the last column. */
  readonly test: string
}

/** The rows of all tables; the columns of the last table mean something else. */
function rowsOf(text: string): readonly Row[] {
  return [...text.matchAll(/^\| ([a-z]+-\d+) +\|(.*)\|$/gm)].map(([, id = '', rest = '']) => {
    const columns = rest.split(' | ').map((column) => column.trim())
    return { id, source: columns[1] ?? '', test: columns.at(-1) ?? '' }
  })
}

const [attacks = '', outside = ''] = page.split('## Of the host and of clients')
const rows = rowsOf(attacks)
const all = [...rows, ...rowsOf(outside)]

/** Why the last column of a row names no test, or nothing. */
function faultOf({ test }: Row): string | undefined {
  const [, file, title] = /^`(test\/[\w/-]+\.test\.ts)` `([^`]+)`$/.exec(test) ?? []
  if (file === undefined || title === undefined) return `no file and title: ${test}`
  return titlesIn(file).has(title) ? undefined : `${file} has no test: ${title}`
}

const read = new Map<string, ReadonlySet<string>>()

/** Every text between quotation marks in a file of tests, as it is in the source: the titles are among them. */
function titlesIn(file: string): ReadonlySet<string> {
  const known = read.get(file)
  if (known !== undefined) return known
  const source = readFileSync(join(root, file), 'utf8')
  const texts = source.matchAll(/\(\s*(['"`])((?:\\.|(?!\1).)*)\1,/gs)
  const titles = new Set([...texts].map(([, , text = '']) => text.replaceAll("\\'", "'")))
  read.set(file, titles)
  return titles
}

test('the page of security has at least 120 attacks, each with a test that exists', () => {
  expect(rows.flatMap((row) => faultOf(row) ?? [])).toEqual([])
  expect(rows.length).toBeGreaterThanOrEqual(120)
})

test('the page of security gives each row an id of its own, and a source', () => {
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  const sources = all.flatMap(({ source }) => source.split('; '))
  const forms = /^(?:RFC \d{4} [\d.]+|(?:CVE|GHSA)-[\w-]+ \(.+\)|[\w-]+ issue \d+ \(.+\))$/
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
