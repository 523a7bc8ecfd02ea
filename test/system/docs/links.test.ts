import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { anchorsOf, filesOfPackage, linksOf, pagesOfRepository } from '../../support/docs/pages'

const root = join(__dirname, '../../..')
const pages = pagesOfRepository()
const links = pages.flatMap(linksOf)
const files = filesOfPackage()

test('the indexes of the documents lead to every page', () => {
  const isIndex = (page: string) => posix.basename(page) === 'README.md'
  const linked = new Set(links.filter(({ from }) => isIndex(from)).map(({ to }) => to))
  const documents = pages.filter((page) => page.startsWith('docs/') && !isIndex(page))
  expect(documents.filter((page) => !linked.has(page))).toEqual([])
})

test('every link of the repository leads to a file', () => {
  expect(links.length).toBeGreaterThan(300)
  expect(links.filter(({ to }) => !existsSync(join(root, to)))).toEqual([])
})

test('every link to a heading finds it', () => {
  const toHeadings = links.filter(({ to, anchor }) => anchor !== '' && to.endsWith('.md'))
  expect(toHeadings.length).toBeGreaterThan(50)
  expect(toHeadings.filter(({ to, anchor }) => !anchorsOf(to).includes(anchor))).toEqual([])
})

test('every link of the package leads to a file of the package', () => {
  const travelling = files.filter((file) => file.endsWith('.md'))
  expect(travelling).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/README.md']))
  const dead = travelling.flatMap(linksOf).filter(({ to }) => !files.includes(to))
  expect(dead).toEqual([])
})

test('proofs, reports and design stay out of the package', () => {
  const travelling = files.filter((file) => !file.startsWith('dist/'))
  expect(travelling.filter((file) => /^(?:docs\/(?:reports|design)|lib|test|bench)\//.test(file))).toEqual([])
})
