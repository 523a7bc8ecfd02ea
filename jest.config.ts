/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'
import { onRedis, project, run } from './test/support/jest-project'

// `npm test`: what needs nothing but Node and a Redis that it starts. What starts browsers, foreign clients and further
// processes has test/system/jest.config.ts, and the campaign has test/campaign/jest.config.ts.
// What these rules speak of is read from options, keys and requests: they say the same on every store.
const withoutWrites = [
  'bearer-tokens',
  'client-authentication',
  'endpoints',
  'error-texts',
  'form-post',
  'introspection-guard',
  'jwt-best-practices',
  'jwt-guards',
  'mcp-documents',
  'mcp-resources',
  'metadata',
  'openid-discovery',
  'parameters',
  'protected-resource-metadata',
  'protected-resources',
  'redirect-uri',
  'registration',
  'request-object-clients',
  'response-issuer',
  'response-types',
  'signing-keys',
  'token-endpoint-errors',
  'token-response',
]

const config: Config = {
  ...run,
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
    {
      ...project,
      displayName: 'rules on Redis',
      testMatch: ['<rootDir>/test/rules/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', `<rootDir>/test/rules/(${withoutWrites.join('|')})\\.test`],
      moduleNameMapper: { ...project.moduleNameMapper, ...onRedis },
      globals: { storesOfRun: ['Redis'] },
    },
  ],
}

module.exports = config
