/** @jest-config-loader esbuild-register */
import { availableParallelism } from 'node:os'
import type { Config } from 'jest'
import { onRedis, project, run } from './test/support/jest-project'

// These rules speak of options, keys and messages. They write records as other rules do, or none, so one store is enough.
const withoutWrites = [
  'bearer-tokens',
  'client-authentication',
  'endpoints',
  'error-texts',
  'form-post',
  'introspection-guard',
  'jwt-best-practices',
  'jwt-guards',
  'mcp',
  'mcp-documents',
  'mcp-extensions',
  'mcp-resources',
  'metadata',
  'openid-authentication',
  'openid-claims',
  'openid-discovery',
  'parameters',
  'protected-resource-metadata',
  'protected-resources',
  'provoked',
  'redirect-uri',
  'registration',
  'request-object-clients',
  'request-objects',
  'response-issuer',
  'response-types',
  'signing-keys',
  'token-endpoint-errors',
  'token-response',
]

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
