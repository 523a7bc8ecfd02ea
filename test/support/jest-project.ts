import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Config } from 'jest'

const root = join(__dirname, '../..')

/** Stands instead of `flows/stage.ts` where what is told in memory runs on the store of the run. */
export const onStoreOfRun = { '/flows/stage$': '<rootDir>/test/support/flows/stage-of-run.ts' }

/** What every project of Jest here has in common. */
export const project = {
  rootDir: root,
  testEnvironment: '<rootDir>/test/support/environment.ts',
  moduleNameMapper: {
    '^express-authorization-server$': '<rootDir>/lib/index.ts',
    '^express-authorization-server/postgres$': '<rootDir>/lib/stores/postgres/index.ts',
    '^express-authorization-server/sqlite$': '<rootDir>/lib/stores/sqlite/index.ts',
    '^express-authorization-server/stores$': '<rootDir>/lib/stores/from/index.ts',
    '^express-authorization-server/testing$': '<rootDir>/lib/testing/index.ts',
  },
  transform: { '^.+\\.[jt]s$': ['@swc/jest', { jsc: { target: 'es2022' } }] },
  // These clients are published as ES modules only.
  transformIgnorePatterns: [
    '/node_modules/(?!(jose|oauth4webapi|openid-client|@auth/core|@panva/hkdf|preact|preact-render-to-string)/)',
  ],
} satisfies Config

/** They speak of options, keys and messages. They write records as other rules do, or none, so one store is enough. */
export const rulesWithoutWrites = [
  'bearer-tokens',
  'client-authentication',
  'endpoints',
  'error-texts',
  'form-post',
  'introspection-guard',
  'jwt-best-practices',
  'jwt-guards',
  'mcp',
  'mcp-documents',
  'mcp-extensions',
  'mcp-resources',
  'metadata',
  'openid-authentication',
  'openid-claims',
  'openid-discovery',
  'parameters',
  'protected-resource-metadata',
  'protected-resources',
  'provoked',
  'redirect-uri',
  'registration',
  'request-object-clients',
  'request-objects',
  'response-issuer',
  'response-types',
  'signing-keys',
  'token-endpoint-errors',
  'token-response',
]

/** They write no record, or speak of options, pages and messages; of documents that are fetched; of Redis alone; or take long. */
const flowsOfOneStore = [
  'common-mistakes',
  'consent-page-parts',
  'created-server',
  'document-addresses',
  'document-fetch',
  'document-limits',
  'events-secrets',
  'four-guards',
  'full-list-of-an-owner',
  'guard-cache',
  'guard-options',
  'host-tests',
  'introspection-guard',
  'introspection-guard-credentials',
  'jwt-access-token-attacks',
  'jwt-guard',
  'kept-documents',
  'other-requests',
  'raw-requests',
  'redis-outage',
]

/** The flows, and the rules that write records, on one store. */
export const everythingOn = (store: string) => ({
  ...project,
  displayName: store,
  testMatch: ['<rootDir>/test/{rules,flows}/*.test.ts', '<rootDir>/test/system/flows/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    `<rootDir>/test/rules/(${rulesWithoutWrites.join('|')})\\.test`,
    `<rootDir>/test/(system/)?flows/(${flowsOfOneStore.join('|')})\\.test`,
  ],
  moduleNameMapper: { ...project.moduleNameMapper, ...onStoreOfRun },
  globals: { storesOfRun: [store] },
})

/** How every run goes. */
export const run = {
  rootDir: root,
  // For what hangs. Tests are bounded by what they wait for and by what they count, not by the speed of the machine.
  testTimeout: 5 * 60_000,
  // A good part of the time of tests is spent waiting for other processes: four workers keep two cores busy. Jest takes
  // no percentage above 100.
  maxWorkers: availableParallelism() * 2,
  reporters: ['default', '<rootDir>/test/support/closing-line.js'],
} satisfies Config
