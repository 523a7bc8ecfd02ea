/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'

const common = {
  rootDir: __dirname,
  testEnvironment: 'node',
  moduleNameMapper: {
    '^express-authorization-server$': '<rootDir>/lib/index.ts',
    '^express-authorization-server/testing$': '<rootDir>/lib/testing/index.ts',
  },
  transform: { '^.+\\.[jt]s$': ['@swc/jest', { jsc: { target: 'es2022' } }] },
  // These clients are published as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!(jose|oauth4webapi|openid-client)/)'],
} satisfies Config

const config: Config = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  testTimeout: 20_000,
  // A good part of the time of tests is spent waiting for other processes.
  maxWorkers: '100%',
  reporters: ['default', '<rootDir>/test/support/closing-line.js'],
  projects: [
    { ...common, displayName: 'express 5', testMatch: ['<rootDir>/test/**/*.test.ts'] },
    {
      ...common,
      displayName: 'express 4',
      testMatch: ['<rootDir>/test/flows/**/*.test.ts'],
      moduleNameMapper: { ...common.moduleNameMapper, '^express$': 'express4' },
    },
  ],
}

module.exports = config
