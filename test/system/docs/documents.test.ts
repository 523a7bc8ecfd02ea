import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { mcp } from '../../../lib/paths/mcp'
import * as kit from '../../../lib/paths/testing'
import { read, root } from './example'

test.each(
  Object.entries({
    'README.md': ['server'],
    'docs/events.md': ['audit-log'],
    'docs/mcp.md': ['mcp', 'mcp-server-process'],
    'docs/stores.md': ['store-contract'],
    'docs/token-exchange.md': ['token-exchange'],
    'docs/guides/add-to-your-application.md': ['host'],
    'docs/guides/devices.md': ['devices'],
    'docs/guides/extend-the-server.md': ['pairing'],
    'docs/guides/jwt-access-tokens.md': ['jwt-access-tokens'],
    'docs/guides/move-from-mcp-auth-router.md': ['move-from-mcp-auth-router'],
    'docs/guides/move-from-node-oauth.md': ['move-from-node-oauth'],
    'docs/guides/move-from-oauth2orize.md': ['move-from-oauth2orize'],
    'docs/guides/move-from-oidc-provider.md': ['move-from-oidc-provider'],
    'docs/guides/openid-connect.md': ['openid-connect'],
    'docs/guides/proof-of-possession.md': ['dpop'],
    'docs/guides/pushed-requests.md': ['pushed-requests'],
    'docs/guides/request-objects.md': ['request-objects'],
    'docs/guides/step-up.md': ['step-up'],
  }),
)('%s shows the files that the tests run: %j', (page, files) => {
  for (const file of files)
    expect(read(page)).toContain(`\`\`\`ts\n${read(`docs/examples/${file}.ts`)}\`\`\``)
})

/** What a page names by this pattern: usually the first cells of its tables. */
const named = (text: string, pattern = /^\| `(\w+)`/gm) =>
  Array.from(text.matchAll(pattern), ([, ...groups]) => groups.join(' ')).toSorted()
/** The table below this header. */
const tableOf = (page: string, header: string) =>
  new RegExp(`^\\| ${header}.*\n\\| -.*\n((?:\\|.*\n)+)`, 'm').exec(read(page))?.[1] ?? ''

const sorted = (texts: Iterable<string>) => [...texts].toSorted()

test.each<[string, said: () => unknown, known: () => unknown]>([
  [
    'mcp.md has every option that mcp() sets, beside those that the host gives',
    () => sorted([...named(tableOf('docs/mcp.md', 'option of the server')), 'scopes', 'defaultResource']),
    () => sorted(Object.keys(mcp({ resource: 'http://localhost/mcp', scopes: { 'notes:read': 'Read' } }))),
  ],
  [
    'stores.md and testing.md name all that the kit exports',
    () => {
      const onPages = [
        ...named(read('docs/stores.md'), /`(\w+(?:Contract|Rules)|check\w+)`/g),
        ...named(read('docs/testing.md'), /(approve|expectRefused|mintToken|testClock)\(/g),
      ]
      return sorted(new Set(onPages))
    },
    () => sorted(Object.keys(kit)),
  ],
])('docs/%s, as the code has it, and no other', (_what, said, known) => {
  expect(said()).toEqual(known())
})

/** A page without its blocks of code. */
const proseOf = (page: string): string => read(page).replaceAll(/^( *)```.*?^\1```$/gms, '')

/** The links and images of a page that stay in the project. */
const linksOf = (page: string) =>
  Array.from(
    proseOf(page).matchAll(/(?:\]\(|(?:src|srcset|href)=")(?!\w+:)([^)\s#"]*)#?([^)\s"]*)[^)"]*[)"]/g),
    ([, path = '', anchor = '']) => ({
      from: page,
      to: path === '' ? page : posix.join(posix.dirname(page), path),
      anchor,
    }),
  )

/** The anchors of a page as GitHub makes them of its headings. */
const anchorsOf = (page: string) =>
  Array.from(proseOf(page).matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )

const output = (command: string, ...given: readonly string[]) =>
  execFileSync(command, given, { cwd: root, encoding: 'utf8', stdio: 'pipe' })

test('every link of the repository leads to a file, and to a heading of it', () => {
  // Git knows what is built or installed.
  const listed = output('git', 'ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.md').split(
    '\0',
  )
  const links = listed.filter((page) => page !== '' && existsSync(join(root, page))).flatMap(linksOf)
  expect(links.length).toBeGreaterThan(300)
  const dead = links.filter(
    ({ to, anchor }) =>
      !existsSync(join(root, to)) || (anchor !== '' && to.endsWith('.md') && !anchorsOf(to).includes(anchor)),
  )
  expect(dead).toEqual([])
})

test('every link of the package leads to a file of the package, which holds no evidence, design or test', () => {
  const [packed]: readonly unknown[] = Object.values(
    JSON.parse(output('npm', 'pack', '--dry-run', '--json', '--ignore-scripts')),
  )
  const files: readonly string[] = Object(packed).files.map(({ path }: { readonly path: string }) => path)
  const pages = files.filter((file) => file.endsWith('.md'))
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/README.md']))
  expect(pages.flatMap(linksOf).filter(({ to }) => !files.includes(to))).toEqual([])
  expect(
    files.filter((file) => /^(?:docs\/(?:evidence|design)\.md$|(?:lib|test|bench)\/)/.test(file)),
  ).toEqual([])
})
