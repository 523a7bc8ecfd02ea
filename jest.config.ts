/** @jest-config-loader esbuild-register */
import { availableParallelism } from 'node:os'
import type { Config } from 'jest'
import { project, run } from './test/support/jest-project'

// `npm test`: what needs nothing but Node and a Redis that it starts. What starts browsers, foreign clients and further
// processes has test/system/jest.config.ts, and the campaign has test/campaign/jest.config.ts.
const config: Config = {
  ...run,
  // Measured on two cores: 200 s with four workers, 181 s with three.
  maxWorkers: availableParallelism() + 1,
  globalSetup: '<rootDir>/test/support/start-suite.ts',
  globalTeardown: '<rootDir>/test/support/stop-suite.ts',
  projects: [
    {
      ...project,
      displayName: 'suite',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(system|campaign)/'],
      globals: { storesOfRun: ['Redis'] },
    },
  ],
}

module.exports = config
