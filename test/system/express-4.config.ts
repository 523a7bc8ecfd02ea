/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { project, run } from '../support/jest-project'

// The flows at the edge on Express 4; `node-versions.test.ts` runs them.
const config: Config = {
  ...run,
  globalSetup: '<rootDir>/test/support/start-suite.ts',
  globalTeardown: '<rootDir>/test/support/stop-suite.ts',
  projects: [
    {
      ...project,
      displayName: 'express 4',
      testMatch: ['<rootDir>/test/{rules,flows}/*.test.ts'],
      moduleNameMapper: { ...project.moduleNameMapper, '^express$': 'express4' },
      globals: { storesOfRun: ['memory'] },
    },
  ],
}

module.exports = config
