import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Config } from 'jest'
import { extent } from './extent'

const root = join(__dirname, '../..')

/** What every project of Jest here has in common. */
export const project = {
  rootDir: root,
  testEnvironment: '<rootDir>/test/support/environment.ts',
  moduleNameMapper: {
    '^express-authorization-server$': '<rootDir>/lib/index.ts',
    '^express-authorization-server/(.*)$': '<rootDir>/lib/paths/$1.ts',
  },
  transform: { '^.+\\.[jt]s$': ['@swc/jest', { jsc: { target: 'es2022' } }] },
  // These clients are published as ES modules only.
  transformIgnorePatterns: [
    '/node_modules/(?!(jose|oauth4webapi|openid-client|@auth/core|@panva/hkdf|preact|preact-render-to-string)/)',
  ],
} satisfies Config

/** Each writes a kind of record: authorizations, of devices too, owners, clients, their marks, keys, documents, uses, counts. */
const flowsOnEachDatabase = [
  'main-way',
  'device-authorization',
  'owner-authorizations',
  'owners-in-parallel',
  'registration',
  'revoked-clients',
  'openid-connect',
  'client-id-metadata',
  'one-time-use',
  'limits-of-clients',
  'store-trouble',
]

const outages = '<rootDir>/test/system/flows/outage.test.ts'

/** Flows on one database; in a long run all of them, and the rules. */
export const everythingOn = (store: string) => ({
  ...project,
  displayName: store,
  testMatch: extent(
    [outages, `<rootDir>/test/flows/(${flowsOnEachDatabase.join('|')}).test.ts`],
    [outages, '<rootDir>/test/{rules,flows}/*.test.ts'],
  ),
  // Its records end by the clock of a memory store.
  testPathIgnorePatterns: ['/node_modules/', '/rules/provoked'],
  // What is told in memory otherwise runs on the store of the run.
  moduleNameMapper: {
    ...project.moduleNameMapper,
    '/flows/stage$': '<rootDir>/test/support/flows/stage-of-run.ts',
  },
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
