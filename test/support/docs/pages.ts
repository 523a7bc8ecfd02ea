import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const root = join(__dirname, '../../..')

/** Every Markdown page of the repository, by its path from the root. Git knows what is built or installed. */
export function pagesOfRepository(): readonly string[] {
  const words = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.md']
  const pages = execFileSync('git', words, { cwd: root, encoding: 'utf8' }).split('\0')
  return pages.filter((page) => page !== '' && existsSync(join(root, page)))
}

/** The files that the package has apart from its build. */
export function filesOfPackage(): readonly string[] {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const packed: unknown = JSON.parse(
    execFileSync('npm', words, { cwd: root, encoding: 'utf8', stdio: 'pipe' }),
  )
  const [one] = Object.values(Object(packed))
  return Object(one).files.map(({ path }: { readonly path: string }) => path)
}

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8')

/** A page without its blocks of code. */
export const proseOf = (page: string): string => readPage(page).replaceAll(/^( *)```.*?^\1```$/gms, '')

/** A link that a page has to another file or heading of the project. */
export interface Link {
  readonly from: string
  readonly to: string
  /** Empty if the link leads to the whole file. */
  readonly anchor: string
}

/** The links and images of a page that stay in the project. */
export function linksOf(page: string): readonly Link[] {
  const inProse = proseOf(page).matchAll(
    /(?:\]\(|(?:src|srcset|href)=")(?!\w+:)([^)\s#"]*)#?([^)\s"]*)[^)"]*[)"]/g,
  )
  return Array.from(inProse, ([, path = '', anchor = '']) => ({
    from: page,
    to: path === '' ? page : posix.join(posix.dirname(page), path),
    anchor,
  }))
}

/** The anchors of a page as GitHub makes them of its headings. */
export function anchorsOf(page: string): readonly string[] {
  return Array.from(proseOf(page).matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}
