// Builds the site from README.md, SECURITY.md and docs/: npm run docs
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { buildSync } from 'esbuild'
import MiniSearch from 'minisearch'
import { linkedFile, readLibrary, type Document, type Library } from './documents'
import { pageOf } from './layout'
import { htmlOf } from './markdown'
import { searchOptions, type Entry } from './search-index'

const root = join(__dirname, '../..')
const site = join(root, 'site')

function write(path: string, text: string): void {
  mkdirSync(dirname(join(site, path)), { recursive: true })
  writeFileSync(join(site, path), text)
}

function build(): void {
  const library = readLibrary(root)
  const documents = library.groups.flatMap((group) => group.documents)
  const pages = new Map([...documents, ...library.examples].map((document) => [document.file, document]))
  rmSync(site, { recursive: true, force: true })
  cpSync(join(root, 'docs/images'), join(site, 'docs/images'), { recursive: true })
  for (const document of pages.values()) {
    const { file, path, tokens, sections } = document
    write(path, pageOf(document, htmlOf(tokens, sections, linksOf(document, pages)), library))
    cpSync(join(root, file), join(site, file))
  }
  write('llms.txt', overviewOf(library))
  write('llms-full.txt', documents.map(({ file, markdown }) => `<!-- ${file} -->\n\n${markdown}`).join('\n'))
  write('assets/search-index.js', `globalThis.searchIndex = ${JSON.stringify(indexOf(documents))}\n`)
  for (const file of ['style.css', 'icon.svg']) cpSync(join(__dirname, file), join(site, 'assets', file))
  buildSync({
    entryPoints: [join(__dirname, 'search.ts')],
    outfile: join(site, 'assets/search.js'),
    bundle: true,
    minify: true,
    target: 'es2022',
  })
  console.log(`${pages.size} pages in ${site}`)
}

/** Links to pages lead to pages, those to other files of the project are text. */
function linksOf({ file, path }: Document, pages: ReadonlyMap<string, Document>) {
  return (href: string) => {
    const target = linkedFile(file, href)
    if (target === undefined || target.startsWith('docs/images/')) return href
    const page = pages.get(target)
    return page && posix.relative(posix.dirname(path), page.path) + (/#.*/.exec(href)?.[0] ?? '')
  }
}

function indexOf(documents: readonly Document[]) {
  const index = new MiniSearch<Entry>(searchOptions)
  for (const { path, title, sections } of documents)
    for (const [place, { id, heading, text }] of sections.entries())
      index.add({ id: place === 0 ? path : `${path}#${id}`, page: title, heading, text })
  return index.toJSON()
}

/** The page of https://llmstxt.org. */
function overviewOf({ groups }: Library): string {
  const { description }: { readonly description: string } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const sections = groups.map(
    ({ title, documents }) =>
      `## ${title}\n\n${documents.map((page) => `- [${page.title}](${page.file}): ${page.description}`).join('\n')}\n`,
  )
  return `# express-authorization-server

> ${description}

The links lead to Markdown, and [llms-full.txt](llms-full.txt) has all pages in one file. Coding agents begin with [one page for them](docs/agents.md). A project that has installed the package has the pages of its version in \`node_modules/express-authorization-server/docs\`.

${sections.join('\n')}`
}

build()
