import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, posix } from 'node:path'
import { lexer, type Token } from 'marked'
import { linksIn, sectionsOf, textOf, type Section } from './markdown'

/** A file of the project that is a page of the site. */
export interface Document {
  readonly file: string
  /** Where its page is, from the top of the site. */
  readonly path: string
  readonly title: string
  /** Its first sentence. */
  readonly description: string
  readonly markdown: string
  readonly tokens: Token[]
  readonly sections: readonly Section[]
}

/** One section of the table of contents. */
export interface Group {
  readonly title: string
  readonly documents: readonly Document[]
}

/** All that the site is made of. */
export interface Library {
  /** The pages of the navigation, in its order. */
  readonly groups: readonly Group[]
  /** Programs and views to which pages link. */
  readonly examples: readonly Document[]
}

const contents = 'docs/README.md'
const examples = 'docs/examples'

function documentOf(file: string, path: string, markdown: string): Document {
  const tokens = lexer(markdown)
  const sections = sectionsOf(tokens)
  const first = tokens.find(({ type }) => type === 'paragraph')
  const title = sections[0]?.heading ?? file
  const opening = first === undefined ? title : textOf(first).replaceAll(/\s+/g, ' ')
  const description = /^.{40,}?[.!?](?= |$)/.exec(opening)?.[0] ?? opening
  return { file, path, title, description, markdown, tokens, sections }
}

/** Below a folder, every file with this ending. */
const filesIn = (root: string, folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => posix.join(folder, name))
    .toSorted()

const targetOf = (from: string, href: string) => posix.join(posix.dirname(from), href.replace(/#.*/, ''))

/** The file of the project to which a page links, or undefined for a link to elsewhere. */
export const linkedFile = (from: string, href: string): string | undefined =>
  /^\w+:|^#/.test(href) ? undefined : targetOf(from, href)

export function readLibrary(root: string): Library {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const pages = new Map(
    ['README.md', 'SECURITY.md', ...filesIn(root, 'docs', /\.md$/)].map((file) => {
      const path = file.replace(/README\.md$/, 'index.md').replace(/md$/, 'html')
      return [file, documentOf(file, path, read(file))]
    }),
  )
  return {
    groups: groupsOf(pages),
    examples: filesIn(root, examples, /\.\w+$/).map((file) => {
      const markdown = `# ${posix.relative(examples, file)}\n\n\`\`\`${extname(file).slice(1)}\n${read(file)}\`\`\`\n`
      return documentOf(file, `${file}.html`, markdown)
    }),
  }
}

/** The table of contents, as the page of contents has it; pages that it does not name come last. */
function groupsOf(pages: ReadonlyMap<string, Document>): readonly Group[] {
  const left = new Map(pages)
  const take = (files: readonly string[]) =>
    files.flatMap((file) => {
      const document = left.get(file)
      left.delete(file)
      return document === undefined ? [] : [document]
    })
  const groups = [{ title: 'Start', documents: take(['README.md', contents]) }]
  for (const token of pages.get(contents)?.tokens ?? [])
    if (token.type === 'heading' && token.depth === 2) groups.push({ title: textOf(token), documents: [] })
    else groups.at(-1)?.documents.push(...take(linksIn([token]).map((href) => targetOf(contents, href))))
  groups.push({ title: 'More', documents: take([...left.keys()]) })
  return groups.filter(({ documents }) => documents.length > 0)
}
