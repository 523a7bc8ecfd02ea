/** @jest-config-loader esbuild-register */
import { availableParallelism } from 'node:os'
import type { Config } from 'jest'

const common = {
  rootDir: __dirname,
  testEnvironment: '<rootDir>/test/support/environment.ts',
  moduleNameMapper: {
    '^express-authorization-server$': '<rootDir>/lib/index.ts',
    '^express-authorization-server/testing$': '<rootDir>/lib/testing/index.ts',
  },
  transform: { '^.+\\.[jt]s$': ['@swc/jest', { jsc: { target: 'es2022' } }] },
  // These clients are published as ES modules only.
  transformIgnorePatterns: [
    '/node_modules/(?!(jose|oauth4webapi|openid-client|@auth/core|@panva/hkdf|preact|preact-render-to-string)/)',
  ],
} satisfies Config

// What Express has a part in: bodies, queries, routers, guards, pages, connections. The rest is the same behind it.
const edge = [
  'authorization-request',
  'bodies',
  'body-contents',
  'client-authentication',
  'closing',
  'consent-page',
  'cors',
  'created-server',
  'decision',
  'error-pages',
  'events',
  'guard',
  'host-passport',
  'jwt-guard',
  'mac',
  'main-way',
  'metadata',
  'past-network-limit',
  'protected-resource',
  'redirection-uris',
]

// What the rules say of bodies, texts and documents asks no store.
const conformance = [
  'authorization-*',
  'client-authentication',
  'clients',
  'extension-grants*',
  'introspection',
  'protected-resources',
  'response-types',
  'revocation',
  'token*',
]

const extent = process.env['TEST_EXTENT']
// What starts browsers, processes or servers of Redis, or lasts by its nature.
const slow = [
  'foreign-clients',
  'foreign-servers',
  'command-line',
  'demo',
  'durability',
  'faults',
  'fuzz',
  'load',
  'package',
  'processes',
  'races',
  'support',
  'authorization/interleavings',
  'conformance/parameters',
  'docs/(host|postgres|readme)',
  'flows/redis-outage',
  'http/.*(browser|network-limit|transport|consent|form-action|create-server)',
  'stores/(redis|stolen|expiring)',
  'testing',
  'warning',
]
// By default every rule runs once: these files on Redis alone, as flows do.
const onRedis = conformance.map((name) => `<rootDir>/test/conformance/${name.replace('*', '.*')}.test.ts`)
// On request: whether the judges of the campaigns see planted faults, and the longer stories of the demo, whose rules
// the flows hold.
const onRequest = [
  'fuzz/planted-faults',
  'faults/planted-faults',
  'faults/campaign/planted',
  ...['apps', 'browser', 'phone', 'postcards', 'redis-away', 'relying-party', 'remembered'].map(
    (story) => `demo/${story}`,
  ),
]
const inTest = (paths: readonly string[]) => paths.map((path) => `<rootDir>/test/${path}`)
const ignored =
  extent === 'quick' ? inTest(slow) : extent === undefined ? [...onRedis, ...inTest(onRequest)] : []

const config: Config = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  // For what hangs. Tests are bounded by what they wait for and by what they count, not by the speed of the machine.
  testTimeout: 5 * 60_000,
  // A good part of the time of tests is spent waiting for other processes: four workers keep two cores busy. Jest takes
  // no percentage above 100.
  maxWorkers: availableParallelism() * 2,
  testSequencer: '<rootDir>/test/support/sequencer.js',
  reporters: ['default', '<rootDir>/test/support/closing-line.js'],
  projects: [
    {
      ...common,
      displayName: 'express 5',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...ignored],
      globals: {
        storesOfRun: extent === 'quick' ? ['memory'] : extent === 'long' ? ['memory', 'Redis'] : ['Redis'],
      },
    },
    {
      ...common,
      displayName: 'conformance on Redis',
      testMatch: conformance.map((name) => `<rootDir>/test/conformance/${name}.test.ts`),
      moduleNameMapper: {
        ...common.moduleNameMapper,
        '/support/flows/stage$': '<rootDir>/test/support/flows/stage-on-redis.ts',
      },
      globals: { storesOfRun: ['Redis'] },
    },
    {
      ...common,
      displayName: 'express 4',
      testMatch: edge.map((name) => `<rootDir>/test/flows/${name}.test.ts`),
      moduleNameMapper: { ...common.moduleNameMapper, '^express$': 'express4' },
      globals: { storesOfRun: ['memory'] },
    },
  ],
}

module.exports = config
