/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { project, run } from '../support/jest-project'

// `npm run test:system`: browsers, foreign clients, processes, packages, the demo, the examples of the documents, and the
// rules on further versions of Node and Express.
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
  ],
}

module.exports = config
