import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as suite from '../lib/index'
const types = [
  'Access',
  'Active',
  'Approval',
  'Approved',
  'Assertion',
  'Authorization',
  'AuthorizationExtensionRequest',
  'AuthorizationServer',
  'AuthorizationServerEvents',
  'AuthorizationServerOptions',
  'AuthorizationStore',
  'BearerGuard',
  'BearerGuardOptions',
  'Bindings',
  'Circumstances',
  'Client',
  'ClientRegistration',
  'ClientStore',
  'ClientStrategy',
  'ConsentView',
  'Count',
  'Counters',
  'ErrorView',
  'Extension',
  'ExtensionRequest',
  'Failure',
  'GeneratedClientSecret',
  'GrantType',
  'ImplicitOptions',
  'Issuance',
  'Issued',
  'Json',
  'Lifetimes',
  'MemoryCountersOptions',
  'MemoryStore',
  'MemoryStoreOptions',
  'Mistake',
  'OAuthErrorCode',
  'OwnerOfAssertion',
  'Parameters',
  'Pending',
  'PkceRequirement',
  'Proof',
  'ProvenGrant',
  'RedirectMethod',
  'RedisCommands',
  'RedisStore',
  'RedisStoreOptions',
  'RemoteGuard',
  'RemoteGuardOptions',
  'ResourceOwner',
  'ResponseType',
  'ResponseTypeTerms',
  'Saml2BearerOptions',
  'SamlIssuer',
  'Scope',
  'StoredAuthorization',
  'TokenRequest',
]

const values = [
  'ConfigurationError',
  'OAuthError',
  'Throttled',
  'accessDenied',
  'approveWithAccessToken',
  'approveWithCode',
  'createAuthorizationServer',
  'createBearerGuard',
  'decodeAuthorization',
  'encodeAuthorization',
  'expiryOf',
  'generateClientSecret',
  'grantableScope',
  'hashClientSecret',
  'implicit',
  'invalidClient',
  'invalidGrant',
  'invalidRequest',
  'invalidScope',
  'issueAccessToken',
  'mayRefresh',
  'memoryCounters',
  'memoryStore',
  'redisStore',
  'saml2Bearer',
  'serverError',
  'temporarilyUnavailable',
  'tooManyAttempts',
  'unauthorizedClient',
]

/** The names that index.ts exports, types too, by its text. */
function exportedNames(): readonly string[] {
  const text = readFileSync(join(__dirname, '..', 'lib', 'index.ts'), 'utf8')
  return [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)]
    .flatMap(([, list = '']) => list.split(','))
    .map((name) => name.replace(/^\s*(?:type\s+)?/, '').trim())
    .filter((name) => name !== '')
}

describe('the public surface', () => {
  it('is these values', () => {
    expect(Object.keys(suite).toSorted()).toEqual(values)
  })

  it('is these values and types, each once', () => {
    expect(exportedNames().toSorted()).toEqual([...values, ...types].toSorted())
  })

  it('has no default', () => {
    expect(suite).not.toHaveProperty('default')
  })
})
