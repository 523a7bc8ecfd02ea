/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { everythingOn, project, run } from '../support/jest-project'

// `npm run test:system`: browsers, foreign clients, processes, packages, the demo, the examples of the documents, the
// flows and rules on PostgreSQL, and on further versions of Node and Express.
const flows = ['<rootDir>/test/flows/*.test.ts', '<rootDir>/test/system/flows/*.test.ts']

const config: Config = {
  ...run,
  globalSetup: '<rootDir>/test/system/install-programs.ts',
  projects: [
    {
      ...project,
      displayName: 'system',
      testMatch: ['<rootDir>/test/system/**/*.test.ts'],
      globals: { storesOfRun: ['Redis'] },
    },
    {
      ...everythingOn('PostgreSQL'),
      // The rules that write run on SQLite always, and here in a long run.
      ...(process.env['TEST_EXTENT'] !== 'long' && { testMatch: flows }),
      globalSetup: '<rootDir>/test/support/start-postgres.ts',
      globalTeardown: '<rootDir>/test/support/stop-postgres.ts',
    },
  ],
}

module.exports = config
