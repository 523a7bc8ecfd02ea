import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argumentsOf, childrenOf, isNode, treeOf, valueOf, type Node } from './conformance/report/syntax'

/**
 * Each room of lib/ with all that it may import: rooms, single files of rooms, and packages. `.` is the top of lib/: what the
 * package exports.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  metadata: [],
  cors: ['protocol'],
  extensions: ['protocol'],
  concurrency: [],
  'password-hashing': ['protocol', 'concurrency', 'bcrypt'],
  'protected-resource-metadata': ['protocol'],
  'resource-indicators': ['protocol'],
  jwt: ['protocol', 'jose'],
  'rate-limit': ['protocol', 'stores/counters', 'express-rate-limit'],
  'document-fetch': ['protocol', 'concurrency', 'rate-limit'],
  authorization: ['protocol', 'stores/authorization-store', 'stores/counters'],
  stores: ['protocol', 'authorization', 'document-fetch'],
  'stores/redis': [
    'protocol',
    'authorization',
    'stores/authorization-store',
    'stores/client-store',
    'stores/counters',
    'stores/deadline',
    'stores/dynamic-client-store',
    'stores/registered-clients',
    'stores/shared-cache',
    'ioredis',
  ],
  'client-id-metadata': ['protocol', 'document-fetch', 'stores/client-source', 'stores/shared-cache'],
  'token-types': ['protocol', 'authorization'],
  'client-authentication': [
    'protocol',
    'password-hashing',
    'jwt',
    'document-fetch',
    'rate-limit',
    'stores/counters',
    'passport',
  ],
  passport: ['protocol', 'express', 'passport', 'passport-http'],
  registration: ['protocol', 'client-authentication', 'stores/client-store'],
  'dynamic-registration': [
    'protocol',
    'metadata',
    'authorization',
    'client-authentication',
    'stores/authorization-store',
    'stores/deadline',
    'stores/dynamic-client-store',
    'stores/memory-dynamic-clients',
    'stores/registered-clients',
  ],
  'revocation-endpoint': ['protocol', 'authorization', 'stores/authorization-store'],
  'introspection-endpoint': ['protocol', 'authorization', 'stores/authorization-store'],
  'authorization-endpoint': [
    'protocol',
    'authorization',
    'token-types',
    'stores/authorization-store',
    'stores/recently-written',
  ],
  'token-endpoint': [
    'protocol',
    'rate-limit',
    'authorization',
    'token-types',
    'resource-indicators',
    'stores/authorization-store',
    'stores/counters',
    'stores/recently-written',
  ],
  'token-endpoint/grant-types': [
    'protocol',
    'password-hashing',
    'jwt',
    'rate-limit',
    'authorization',
    'token-types',
    'token-endpoint',
    'resource-indicators',
    '@xmldom/xmldom',
    'xml-crypto',
  ],
  'resource-server': ['protocol', 'resource-indicators', 'jwt', 'authorization'],
  audit: ['protocol', 'authorization', 'resource-server', 'express'],
  'node-http': ['protocol', 'audit'],
  http: [
    'protocol',
    'resource-indicators',
    'cors',
    'metadata',
    'protected-resource-metadata',
    'rate-limit',
    'authorization',
    'client-authentication',
    'passport',
    'authorization-endpoint',
    'resource-server',
    'audit',
    'node-http',
    'stores/counters',
    'express',
    'express-rate-limit',
  ],
  config: [
    'protocol',
    'cors',
    'dynamic-registration',
    'extensions',
    'resource-indicators',
    'rate-limit',
    'authorization',
    'token-types',
    'client-authentication',
    'authorization-endpoint',
    'token-endpoint',
    'audit',
    'http',
    'stores/authorization-store',
    'stores/client-store',
    'stores/counters',
    'stores/client-source',
    'stores/deadline',
    'stores/memory-counters',
    'stores/memory-store',
    'stores/registered-clients',
    'stores/shared-cache',
    'metadata',
    'express',
  ],
  server: [
    'protocol',
    'resource-indicators',
    'cors',
    'metadata',
    'protected-resource-metadata',
    'jwt',
    'rate-limit',
    'authorization',
    'token-types',
    'client-authentication',
    'document-fetch',
    'passport',
    'registration',
    'dynamic-registration',
    'revocation-endpoint',
    'introspection-endpoint',
    'authorization-endpoint',
    'token-endpoint',
    'token-endpoint/grant-types',
    'resource-server',
    'audit',
    'http',
    'config',
    'stores',
    'express',
    'express-rate-limit',
  ],
  lint: [
    'protocol',
    'password-hashing',
    'token-endpoint/grant-types',
    'config',
    'stores/client-store',
    'stores/deadline',
    'stores/in-memory',
  ],
  'command-line': ['protocol', 'stores/redis', 'registration', 'lint', 'stores/client-store'],
  testing: [
    'protocol',
    'authorization',
    'audit',
    'stores/authorization-store',
    'stores/client-store',
    'stores/counters',
    'stores/dynamic-client-store',
  ],
  mcp: ['protocol', 'client-id-metadata', 'config', 'protected-resource-metadata'],
  '.': [
    'protocol',
    'mcp',
    'cors',
    'dynamic-registration',
    'extensions',
    'resource-indicators',
    'rate-limit',
    'authorization',
    'stores/redis',
    'token-types',
    'client-authentication',
    'document-fetch',
    'passport',
    'protected-resource-metadata',
    'registration',
    'authorization-endpoint',
    'token-endpoint',
    'token-endpoint/grant-types',
    'resource-server',
    'audit',
    'node-http',
    'http',
    'config',
    'server',
    'stores',
    'client-id-metadata',
    'document-fetch',
  ],
}

const lib = join(__dirname, '../lib')
const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** The innermost room that a file stands in. */
function roomOf(file: string): string {
  const folders = Object.keys(rooms).filter((room) => file.startsWith(`${room}/`))
  return folders.toSorted((one, other) => other.length - one.length)[0] ?? '.'
}

/** What a source imports: files of lib/ as `room/file`, those at the top as `./file`, and packages that are not Node's. */
function importsOf(file: string, source: string): readonly string[] {
  const named = (node: Node): readonly string[] => {
    const below = childrenOf(node).flatMap(named)
    const callee = node.type === 'CallExpression' && isNode(node['callee']) ? node['callee'] : undefined
    const isRequire = callee?.type === 'Import' || valueOf(callee) === 'require'
    const from = isRequire ? argumentsOf(node)[0] : (node['source'] ?? node['argument'])
    const isImport = isRequire || /^(?:Import|Export)\w*Declaration$|^TsImportType$/.test(node.type)
    return isImport && isNode(from) && from.type === 'StringLiteral' ? [valueOf(from), ...below] : below
  }
  return named(treeOf(source))
    .filter((name) => !name.startsWith('node:'))
    .map((name) => {
      if (!name.startsWith('.')) return name
      const path = join(dirname(file), name)
      return path.includes('/') ? path : `./${path}`
    })
}

const isOwn = (room: string, imported: string) =>
  imported.includes('/') && roomOf(imported.replace('./', '')) === room

function isAllowed(room: string, imported: string): boolean {
  const from = imported.startsWith('./') ? '.' : roomOf(imported)
  return isOwn(room, imported) || (rooms[room] ?? []).some((row) => row === imported || row === from)
}

/** The imports of a source that the row of its room does not allow. */
const forbiddenIn = (file: string, source: string): readonly string[] =>
  importsOf(file, source).filter((imported) => !isAllowed(roomOf(file), imported))

const names = Object.keys(rooms)
const packages = ['express', 'express-rate-limit', 'passport', 'passport-http', 'ioredis', 'bcrypt', 'jose']
const sources = files.map((file) => ({ file, source: readFileSync(join(lib, file), 'utf8') }))

test.each(names)('%s imports what its row allows, and nothing else', (room) => {
  const own = sources.filter(({ file }) => roomOf(file) === room)
  expect(own.length).toBeGreaterThan(0)
  expect(
    own.flatMap(({ file, source }) => forbiddenIn(file, source).map((each) => `${file}: ${each}`)),
  ).toEqual([])
})

test.each(names)('a forbidden import that is planted in %s is noticed', (room) => {
  const others = [
    ...names.filter((name) => name !== '.').map((name) => `${name}/planted`),
    './planted',
    ...packages,
  ]
  const forbidden = others.filter((other) => !isAllowed(room, other))
  expect(forbidden.length).toBeGreaterThan(0)
  const up = '../'.repeat(room === '.' ? 0 : room.split('/').length) || './'
  for (const other of forbidden) {
    const written = packages.includes(other) ? other : `${up}${other.replace('./', '')}`
    const file = join(room, 'planted-here.ts')
    expect(forbiddenIn(file, `import { planted } from '${written}'\n`)).toEqual([other])
    expect(forbiddenIn(file, `export type { Planted } from '${written}'\n`)).toEqual([other])
    expect(forbiddenIn(file, `const planted = require('${written}')\n`)).toEqual([other])
  }
})

test('no row allows what nobody imports', () => {
  const imported = sources.flatMap(({ file, source }) =>
    importsOf(file, source).map((each) => ({ room: roomOf(file), each })),
  )
  const isUsed = (room: string, row: string) =>
    imported.some((one) => one.room === room && (one.each === row || roomOf(one.each) === row))
  expect(names.flatMap((room) => (rooms[room] ?? []).filter((row) => !isUsed(room, row)))).toEqual([])
})
