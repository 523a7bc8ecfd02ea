import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const root = join(__dirname, '../..')
const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
const pages = docs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`)
const read = (page: string) => readFileSync(join(root, page), 'utf8')

test('the indexes of the documents lead to every page', () => {
  const indexes = pages.filter((page) => posix.basename(page) === 'README.md')
  const linked = new Set(
    indexes.flatMap((index) =>
      Array.from(read(index).matchAll(/\]\(([^)#]+)/g), ([, path = '']) =>
        posix.join(posix.dirname(index), path),
      ),
    ),
  )
  expect(pages.filter((page) => page !== 'docs/README.md' && !linked.has(page))).toEqual([])
})

test('every link to a heading of a document finds it', () => {
  const links = ['README.md', 'SECURITY.md', ...pages].flatMap((page) =>
    Array.from(
      read(page).matchAll(/\]\((?!https?:)([^)\s#]*)#([^)\s]+)\)/g),
      ([, path = '', anchor = '']) => ({
        from: page,
        to: path === '' ? page : posix.join(posix.dirname(page), path),
        anchor,
      }),
    ),
  )
  expect(links.length).toBeGreaterThan(50)
  expect(links.filter(({ to, anchor }) => !anchorsOf(to).includes(anchor))).toEqual([])
})

/** The anchors of a page as GitHub makes them of its headings. */
function anchorsOf(page: string): readonly string[] {
  const prose = read(page).replaceAll(/^```.*?^```$/gms, '')
  return Array.from(prose.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}
