/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { project, run } from '../support/jest-project'
import { rulesAndEdge } from './edge'

// `npm run test:system`: browsers, foreign clients, processes, packages, the demo, the examples of the documents, and the
// rules on Express 4.
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
      ...project,
      displayName: 'express 4',
      testMatch: rulesAndEdge.map((path) => `<rootDir>/${path}`),
      moduleNameMapper: { ...project.moduleNameMapper, '^express$': 'express4' },
      globals: { storesOfRun: ['memory'] },
    },
  ],
}

module.exports = config
