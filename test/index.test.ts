import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as suite from '../lib/index'
const types = [
  'Access',
  'Active',
  'Approval',
  'Approved',
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
  'ClientMetadata',
  'ClientRegistrar',
  'ClientRegistration',
  'ClientRegistry',
  'ClientStore',
  'ClientStrategy',
  'ConsentView',
  'ErrorView',
  'Extension',
  'ExtensionRequest',
  'Failure',
  'GeneratedClientSecret',
  'ImplicitOptions',
  'Issuance',
  'Issued',
  'IssuedCredentials',
  'Json',
  'Lifetimes',
  'MemoryClientsOptions',
  'MemoryStoreOptions',
  'Mistake',
  'OAuthErrorCode',
  'OldSecretUse',
  'Parameters',
  'Pending',
  'PkceRequirement',
  'RedirectMethod',
  'RedisCommands',
  'RedisStore',
  'RedisStoreOptions',
  'RemoteGuard',
  'RemoteGuardOptions',
  'ResourceOwner',
  'ResponseType',
  'ResponseTypeTerms',
  'Scope',
  'StoredAuthorization',
  'Vocabulary',
]

const values = [
  'ConfigurationError',
  'OAuthError',
  'accessDenied',
  'approveWithAccessToken',
  'approveWithCode',
  'createAuthorizationServer',
  'createBearerGuard',
  'decodeAuthorization',
  'disableClient',
  'dropOldClientSecrets',
  'enableClient',
  'encodeAuthorization',
  'expiryOf',
  'generateClientSecret',
  'hashClientSecret',
  'implicit',
  'invalidClient',
  'invalidGrant',
  'invalidRequest',
  'invalidScope',
  'issueAccessToken',
  'memoryClients',
  'memoryStore',
  'redisStore',
  'registerClient',
  'rotateClientSecret',
  'serverError',
  'temporarilyUnavailable',
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
