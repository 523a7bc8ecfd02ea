/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { everythingOn, run } from '../support/jest-project'

// The flows on SQLite, which Node 20 has not; `node-versions.test.ts` runs them.
const config: Config = {
  ...run,
  globalSetup: '<rootDir>/test/support/start-suite.ts',
  globalTeardown: '<rootDir>/test/support/stop-suite.ts',
  projects: [everythingOn('SQLite')],
}

module.exports = config
