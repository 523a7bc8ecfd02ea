/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { everythingOn, project, run } from '../support/jest-project'

// `npm run test:system`: browsers, foreign clients, processes, packages, the demo, the examples of the documents, and
// flows on PostgreSQL, SQLite and further versions of Node and Express.

const config: Config = {
  ...run,
  globalSetup: '<rootDir>/test/system/install-programs.ts',
  testSequencer: '<rootDir>/test/system/slowest-first.js',
  projects: [
    {
      ...project,
      displayName: 'system',
      testMatch: ['<rootDir>/test/system/**/*.test.ts'],
      globals: { storesOfRun: ['Redis'] },
    },
    {
      ...everythingOn('PostgreSQL'),
      globalSetup: '<rootDir>/test/support/start-postgres.ts',
      globalTeardown: '<rootDir>/test/support/stop-postgres.ts',
    },
  ],
}

module.exports = config
