/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { onRedis, project, run } from './test/support/jest-project'

// `npm test`: what needs nothing but Node and a Redis that it starts. What starts browsers, foreign clients and further
// processes has test/system/jest.config.ts, and the campaign has test/campaign/jest.config.ts.
const config: Config = {
  ...run,
  globalSetup: '<rootDir>/test/support/start-suite-redis.ts',
  globalTeardown: '<rootDir>/test/support/stop-suite-redis.ts',
  projects: [
    {
      ...project,
      displayName: 'suite',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(system|campaign)/'],
      globals: { storesOfRun: ['Redis'] },
    },
    {
      ...project,
      displayName: 'rules on Redis',
      testMatch: ['<rootDir>/test/rules/*.test.ts'],
      moduleNameMapper: { ...project.moduleNameMapper, ...onRedis },
      globals: { storesOfRun: ['Redis'] },
    },
  ],
}

module.exports = config
