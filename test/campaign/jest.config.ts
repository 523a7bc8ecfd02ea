/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { project, run } from '../support/jest-project'

// `npm run test:long`: races, faults and fuzz.
const config: Config = {
  ...run,
  globalSetup: '<rootDir>/test/system/install-programs.ts',
  projects: [
    {
      ...project,
      displayName: 'campaign',
      testMatch: ['<rootDir>/test/campaign/**/*.test.ts'],
      globals: { storesOfRun: ['memory', 'Redis'] },
    },
  ],
}

module.exports = config
