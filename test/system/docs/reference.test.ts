import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError, createAuthorizationServer } from 'express-authorization-server'
import { pages } from '../../../docs/reference/pages'
import { createBearerGuard } from '../../../lib/paths/guards'
import { warningCodes } from '../../../lib/protocol/warning-code'
import { read, root } from './example'

test.each(pages)('$path is what the code says: npm run reference', ({ path, page }) => {
  expect(read(path)).toBe(page())
})

/** What these options are answered with. */
function issuesOf(make: (options: never) => unknown, options: object) {
  try {
    Reflect.apply(make, undefined, [options])
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues
  }
  throw new Error('A misspelt option was accepted.')
}

/** Every option that the reader knows, with those in these groups: it names them if one is misspelt. */
const knownOptions = (make: (options: never) => unknown, groups: readonly string[]) =>
  issuesOf(make, { misspelt: 1, ...Object.fromEntries(groups.map((group) => [group, { misspelt: 1 }])) })
    .filter(({ path }) => path.endsWith('misspelt'))
    .flatMap(({ path, message }) =>
      message
        .replace(/^.*known names are |\.$/g, '')
        .split(', ')
        .map((name) => path.replace('misspelt', name)),
    )
    .toSorted()

const firstWords = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, word = '']) => word)
const [ofServer = '', , ofGuard = ''] = read('docs/options.md').split(
  /\n## (?:bearerGuard|createBearerGuard)\(\)\n/,
)

test('options.md has every option of the server, and no other', () => {
  const groups = ['authorizations', 'guards', 'lifetimes', 'limits', 'pages', 'paths']
  // Hosts choose the names in these two.
  const named = firstWords(ofServer, /^### (?!scopes\.|resources\.)([\w.]+)$/gm)
  expect(named.toSorted()).toEqual(knownOptions(createAuthorizationServer, groups))
})

test('the pages of guards have every option of createBearerGuard(), and no other', () => {
  const [, shared = ''] = /^Besides (.*), which/m.exec(ofGuard) ?? []
  const tableOf = (page: string) => /^\| option .*\n\| -.*\n((?:\|.*\n)+)/m.exec(read(page))?.[1] ?? ''
  const named = [
    ...firstWords(ofGuard, /^### guard\.(\w+)$/gm),
    ...firstWords(shared, /`(\w+)`/g),
    ...firstWords(tableOf('docs/jwt-guard.md'), /^\| `(\w+)`/gm).map((name) => `jwt.${name}`),
    ...firstWords(tableOf('docs/introspection-guard.md'), /^\| `(\w+)`/gm).map(
      (name) => `introspection.${name}`,
    ),
  ]
  expect(named.toSorted()).toEqual(knownOptions(createBearerGuard, ['store', 'jwt', 'introspection']))
})

test('warnings.md explains every code that the code raises, and no other', () => {
  const files = ['lib', 'demo'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('warning-code.ts'))
      .map((file) => read(join(folder, file))),
  )
  const raised = new Set(files.flatMap((text) => firstWords(text, /'(EAS_[A-Z_]+)'/g)))
  const explained = firstWords(read('docs/warnings.md'), /^### (\w+)$/gm)
  expect(explained.toSorted()).toEqual([...raised].toSorted())
  expect(explained.toSorted()).toEqual([...warningCodes].toSorted())
})
