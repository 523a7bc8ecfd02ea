/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { project, run } from '../support/jest-project'

// What Express has a part in: bodies, queries, routers, guards, pages, connections. The rest is the same behind it.
const edge = [
  'authorization-request',
  'bodies',
  'body-contents',
  'client-authentication',
  'closing',
  'consent-page',
  'cors',
  'created-server',
  'decision',
  'error-pages',
  'events',
  'guard',
  'host-passport',
  'jwt-guard',
  'mac',
  'main-way',
  'metadata',
  'past-network-limit',
  'protected-resource',
  'redirection-uris',
]

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
      testMatch: [
        '<rootDir>/test/rules/*.test.ts',
        ...edge.map((name) => `<rootDir>/test/flows/${name}.test.ts`),
      ],
      moduleNameMapper: { ...project.moduleNameMapper, '^express$': 'express4' },
      globals: { storesOfRun: ['memory'] },
    },
  ],
}

module.exports = config
