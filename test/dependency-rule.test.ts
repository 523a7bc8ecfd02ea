import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argumentsOf, childrenOf, isNode, treeOf, valueOf, type Node } from './rules/report/syntax'

/**
 * Each room of lib/ with all that it may import: rooms, single files of rooms, and packages. `.` is the top of lib/: what the
 * package exports.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
  primitives: [],
  protocol: ['primitives', 'http/pages/texts/locale'],
  limits: ['primitives', 'protocol', 'express-rate-limit'],
  jwt: ['primitives', 'protocol', 'jose'],
  'jwt/signing-keys': ['primitives', 'protocol', 'jwt', 'authorization/issuer', 'config/plug-in'],
  authorization: ['primitives', 'protocol', 'limits/counters'],
  clients: [
    'primitives',
    'protocol',
    'clients/document-fetch/document-fetch',
    'stores/in-memory',
    'client-authentication/client-secret',
  ],
  'clients/document-fetch': ['primitives', 'protocol', 'limits/network', 'limits/token-buckets'],
  'clients/metadata-documents': [
    'primitives',
    'protocol',
    'limits/network',
    'clients/client-source',
    'clients/shared-cache',
    'clients/document-fetch',
  ],
  'clients/dynamic-registration': [
    'primitives',
    'protocol',
    'limits/network',
    'authorization',
    'clients/document-fetch',
    'clients/dynamic-client-store',
    'stores',
    'client-authentication/client-secret',
    'endpoints/server-metadata',
  ],
  stores: [
    'primitives',
    'protocol',
    'limits/counters',
    'authorization',
    'clients',
    'jwt/signing-keys/key-store',
  ],
  'stores/redis': [
    'primitives',
    'protocol',
    'limits/counters',
    'authorization',
    'clients',
    'stores/deadline',
    'stores/storage',
    'ioredis',
    'jwt/signing-keys/key-store',
  ],
  extensions: ['primitives', 'protocol', 'config/plug-in'],
  'extensions/resource-indicators': ['primitives', 'protocol'],
  'extensions/token-types': ['primitives', 'protocol', 'authorization'],
  'client-authentication': [
    'primitives',
    'protocol',
    'limits',
    'jwt',
    'clients/document-fetch',
    'passport-http',
    'bcrypt',
    'express',
  ],
  endpoints: ['primitives', 'protocol', 'authorization', 'server/context'],
  'authorization-endpoint': [
    'primitives',
    'protocol',
    'authorization',
    'token-endpoint/restrict',
    'extensions/token-types/bearer',
    'server/context',
  ],
  'token-endpoint': [
    'primitives',
    'protocol',
    'limits',
    'authorization',
    'extensions/token-types/bearer',
    'server/context',
  ],
  'token-endpoint/grant-types': [
    'primitives',
    'protocol',
    'limits',
    'jwt',
    'authorization',
    'extensions/resource-indicators/resource-indicators',
    'extensions/token-types/bearer',
    'client-authentication/bcrypt',
    'token-endpoint/grant-type',
    '@xmldom/xmldom',
    'xml-crypto',
  ],
  'extensions/jwt-access-tokens': [
    'primitives',
    'protocol',
    'jwt',
    'jwt/signing-keys',
    'extensions/choices',
    'extensions/resource-indicators/resource-indicators',
    'endpoints/server-metadata',
    'config/plug-in',
  ],
  dpop: ['primitives', 'protocol', 'authorization/lookup', 'config/plug-in', 'stores/in-memory'],
  'openid-connect': [
    'primitives',
    'protocol',
    'authorization',
    'jwt',
    'jwt/signing-keys',
    'extensions/resource-indicators/resource-indicators',
    'resource-server',
    'clients/document-fetch',
    'http/pages/consent-page',
    'http/pages/html',
    'http/pages/texts/locale',
    'config/plug-in',
  ],
  'pushed-requests': ['primitives', 'protocol', 'limits', 'authorization', 'config/plug-in'],
  'form-post': ['config/plug-in'],
  'request-objects': [
    'primitives',
    'protocol',
    'jwt',
    'authorization/claim',
    'authorization-endpoint/login-return',
    'client-authentication/client-keys',
    'clients/document-fetch/document-fetch',
    'config/plug-in',
  ],
  'device-authorization': [
    'primitives',
    'protocol',
    'limits',
    'authorization',
    'authorization-endpoint/polled-requests',
    'authorization-endpoint/requested-login',
    'authorization-endpoint/selection',
    'token-endpoint/grant-type',
    'stores/in-memory',
    'http/consent',
    'http/own-page',
    'http/pages/consent-page',
    'http/pages/consent-question',
    'http/pages/html',
    'http/pages/permissions',
    'http/pages/texts/locale',
    'config/plug-in',
  ],
  'connected-applications': [
    'primitives',
    'protocol',
    'authorization',
    'authorization-endpoint/consent-memory',
    'authorization-endpoint/prior-consent',
    'http/consent',
    'http/own-page',
    'http/pages/connected-page',
    'http/pages/consent-page',
    'http/pages/texts/locale',
    'server/context',
    'server/gone-entries',
    'server/owner-authorizations',
  ],
  'resource-server': [
    'primitives',
    'protocol',
    'limits',
    'jwt/key-source',
    'jwt/verified-tokens',
    'jwt/verify-jwt',
    'jwt/signing-keys/given-keys',
    'jwt/signing-keys/key-ring',
    'authorization',
    'extensions/resource-indicators/resource-indicators',
    'extensions/resource-indicators/resources',
  ],
  audit: ['primitives', 'protocol', 'authorization', 'resource-server/admit', 'testing/door', 'express'],
  http: [
    'primitives',
    'protocol',
    'limits',
    'authorization',
    'stores/deadline',
    'extensions/resource-indicators/resources',
    'client-authentication',
    'endpoints/protected-resource-metadata',
    'endpoints/server-metadata',
    'authorization-endpoint',
    'resource-server',
    'audit',
    'config/settings',
    'server/context',
    'express',
    'express-rate-limit',
  ],
  config: [
    'primitives',
    'protocol',
    'limits',
    'authorization',
    'clients',
    'clients/document-fetch/document-fetch',
    'clients/metadata-documents/metadata-documents',
    'clients/dynamic-registration/find-dynamic-clients',
    'clients/dynamic-registration/registration-options',
    'stores',
    'extensions/choices',
    'extensions/pkce',
    'extensions/resource-indicators/resource-indicators',
    'extensions/resource-indicators/resources',
    'extensions/token-types/bearer',
    'client-authentication/bcrypt',
    'client-authentication/credential-throttle',
    'client-authentication/method',
    'endpoints/protected-resource-metadata',
    'endpoints/server-metadata',
    'authorization-endpoint/consent-offer',
    'authorization-endpoint/polled-requests',
    'authorization-endpoint/prior-consent',
    'authorization-endpoint/response-modes',
    'authorization-endpoint/response-types',
    'token-endpoint/grant-type',
    'audit/diagnosis',
    'audit/warning',
    'connected-applications/authorizations-options',
    'http',
    'express',
    'jwt/signing-keys/key-store',
  ],
  server: [
    'primitives',
    'protocol',
    'limits',
    'jwt',
    'authorization',
    'clients',
    'clients/dynamic-registration',
    'stores',
    'extensions/choices',
    'extensions/resource-indicators',
    'extensions/token-types',
    'client-authentication',
    'endpoints',
    'authorization-endpoint',
    'connected-applications',
    'token-endpoint',
    'token-endpoint/grant-types',
    'resource-server',
    'audit',
    'http',
    'config',
    'testing',
    'express',
  ],
  'command-line': [
    'primitives',
    'protocol',
    'authorization/authorization-index',
    'authorization/client-marks',
    'authorization/indexed-since',
    'authorization/issuer',
    'clients',
    'stores/redis/redis-store',
    'command-line/lint/lint',
    'command-line/lint/lint-rule',
    'jwt/signing-keys/key-store',
    'jwt/signing-keys/manage-signing-keys',
  ],
  'command-line/lint': [
    'primitives',
    'protocol',
    'clients/client-store',
    'stores/deadline',
    'stores/in-memory',
    'client-authentication/bcrypt',
    'token-endpoint/grant-types/password/password',
    'config/options',
    'config/settings',
    'config/resolve-options',
  ],
  testing: [
    'primitives',
    'protocol',
    'limits/counters',
    'authorization',
    'clients/client-store',
    'clients/dynamic-client-store',
    'jwt/signing-keys/key-store',
  ],
  '.': [
    'primitives',
    'protocol',
    'limits',
    'authorization',
    'clients',
    'clients/document-fetch',
    'clients/metadata-documents',
    'clients/dynamic-registration',
    'stores',
    'stores/redis',
    'extensions',
    'extensions/resource-indicators',
    'extensions/token-types',
    'client-authentication',
    'endpoints',
    'authorization-endpoint',
    'token-endpoint',
    'token-endpoint/grant-types',
    'resource-server',
    'audit',
    'connected-applications/authorizations-options',
    'http',
    'config',
    'server',
    'jwt/signing-keys',
    'extensions/jwt-access-tokens',
    'dpop',
    'openid-connect',
    'form-post',
    'request-objects',
    'device-authorization',
    'pushed-requests',
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

test('no row allows an unused import', () => {
  const imported = sources.flatMap(({ file, source }) =>
    importsOf(file, source).map((each) => ({ room: roomOf(file), each })),
  )
  const isUsed = (room: string, row: string) =>
    imported.some((one) => one.room === room && (one.each === row || roomOf(one.each) === row))
  expect(names.flatMap((room) => (rooms[room] ?? []).filter((row) => !isUsed(room, row)))).toEqual([])
})

/** The files that a source imports, types included. */
const neighboursOf = new Map(
  sources.map(({ file, source }) => [
    file,
    importsOf(file, source).map((imported) => `${imported.replace('./', '')}.ts`),
  ]),
)

/** A way from a file back to itself over its imports; undefined if there is none. */
function circleThrough(
  start: string,
  neighbours: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const seen = new Set<string>()
  const walk = (way: readonly string[]): readonly string[] | undefined => {
    for (const next of neighbours.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, next]
      if (seen.has(next)) continue
      seen.add(next)
      const circle = walk([...way, next])
      if (circle !== undefined) return circle
    }
    return undefined
  }
  return walk([start])
}

test('no files import each other in a circle, types included', () => {
  const circles = files
    .map((file) => circleThrough(file, neighboursOf))
    .filter((circle) => circle !== undefined)
  expect(circles).toEqual([])
})

test('a circle that is planted is noticed', () => {
  const planted = new Map([
    ['a.ts', ['b.ts']],
    ['b.ts', ['c.ts']],
    ['c.ts', ['a.ts']],
  ])
  expect(circleThrough('b.ts', planted)).toEqual(['b.ts', 'c.ts', 'a.ts', 'b.ts'])
  planted.delete('c.ts')
  expect(circleThrough('b.ts', planted)).toBeUndefined()
})
