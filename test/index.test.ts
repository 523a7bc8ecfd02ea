import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as suite from '../lib/index'
const types = [
  'Access',
  'Active',
  'Approval',
  'Approved',
  'Assertion',
  'AuthenticationMethodTerms',
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
  'Claim',
  'Client',
  'ClientAuthenticationMethod',
  'ClientCertificate',
  'ClientMetadata',
  'ClientRegistrar',
  'ClientRegistration',
  'ClientRegistry',
  'ClientStore',
  'ClientStrategy',
  'ConsentView',
  'Count',
  'Counters',
  'CredentialSources',
  'ErrorView',
  'Extension',
  'ExtensionRequest',
  'Failure',
  'FindPasswordOwner',
  'GeneratedClientSecret',
  'GrantType',
  'ImplicitOptions',
  'Issuance',
  'IssueMoment',
  'Issued',
  'IssuedCredentials',
  'Json',
  'JwtBearerOptions',
  'Lifetimes',
  'Limit',
  'LimitOption',
  'MacAlgorithm',
  'MacOptions',
  'MemoryClientsOptions',
  'MemoryCountersOptions',
  'MemoryStore',
  'MemoryStoreOptions',
  'Mistake',
  'OAuthErrorCode',
  'OldSecretUse',
  'OwnerOfAssertion',
  'Parameters',
  'PasswordLimits',
  'PasswordOptions',
  'PasswordOwner',
  'Pending',
  'PkceRequirement',
  'PresentedToken',
  'Proof',
  'ProvenGrant',
  'RedirectMethod',
  'RedisCommands',
  'RedisStore',
  'RedisStoreOptions',
  'RemoteGuard',
  'RemoteGuardOptions',
  'ResourceOwner',
  'ResourceRequest',
  'ResponseType',
  'ResponseTypeTerms',
  'Scope',
  'StoredAuthorization',
  'TokenCheck',
  'TokenIssue',
  'TokenProperties',
  'TokenRequest',
  'TokenType',
  'TokenTypes',
  'TrustedIssuer',
  'VerifyPassword',
  'Vocabulary',
]

const values = [
  'ConfigurationError',
  'OAuthError',
  'Throttled',
  'accessDenied',
  'approveWithAccessToken',
  'approveWithCode',
  'bcryptPasswords',
  'createAuthorizationServer',
  'createBearerGuard',
  'decodeAuthorization',
  'disableClient',
  'dropOldClientSecrets',
  'enableClient',
  'encodeAuthorization',
  'expiryOf',
  'generateClientSecret',
  'grantableScope',
  'hashClientSecret',
  'hashPassword',
  'implicit',
  'invalidClient',
  'invalidGrant',
  'invalidRequest',
  'invalidScope',
  'issueAccessToken',
  'jwtBearer',
  'mac',
  'mayRefresh',
  'memoryClients',
  'memoryCounters',
  'memoryStore',
  'password',
  'redisStore',
  'registerClient',
  'rotateClientSecret',
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
