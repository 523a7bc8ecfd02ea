import type { Mutation } from './mutation'

/** Breaks of the rules of answers, errors and both endpoints. */
export const answers: readonly Mutation[] = [
  ['RSP-1', 'express/json-response.ts', 'application/json; charset=utf-8', 'application/json'],
  ['RSP-2', 'token-types/token-response.ts', 'access_token: accessToken,', 'accesstoken: accessToken,'],
  [
    'RSP-3',
    'token-types/token-response.ts',
    'expires_in: expiresAt - now',
    'expires_in: String(expiresAt - now)',
  ],
  ['RSP-4', 'token-types/token-response.ts', '    scope: formatScope(scope),\n', ''],
  [
    'RSP-5',
    'express/page-response.ts',
    "      Location: location,\n      'Cache-Control': 'no-store',",
    '      Location: location,',
  ],
  ['RSP-5', 'express/json-response.ts', "  'Cache-Control': 'no-store',\n", ''],
  [
    'RSP-6',
    'protocol/grantable-scope.ts',
    "'The scope is malformed.'",
    '`The scope ${requested} is malformed.`',
  ],
  [
    'RSP-6',
    'token-endpoint/exchange.ts',
    "'The grant type is not supported.'",
    '\'The "grant type" is not supported.\'',
  ],
  ['RSP-6', 'express/client-post.ts', 'The ${endpoint} endpoint', 'The "${endpoint}" endpoint'],
  [
    'RSP-6',
    'protected-resource/access-refusal.ts',
    "'The access token is unknown, expired or revoked.'",
    "'The access token is unknown, expired or \\\\ revoked.'",
  ],
  ['RSP-6', 'protocol/parameters.ts', 'The parameter ${name} ${fault}.', 'The parameter "${name}" ${fault}.'],
  ['RSP-6', 'express/json-response.ts', "  Pragma: 'no-cache',\n", ''],
  ['RSP-6', 'client-authentication/scheme.ts', 'Basic realm="oauth", charset="UTF-8"', 'Basic realm=oauth'],
  ['EPT-1', 'resolve-paths.ts', '.pathname === value', ".pathname !== ''"],
  ['EPT-1', 'resolve-issuer.ts', "|| issuer.includes('#')", ''],
  [
    'EPT-2',
    'protocol/parameters.ts',
    "typeof value === 'string' && value !== '' ? value : undefined",
    "typeof value === 'string' ? value : undefined",
  ],
  [
    'EPT-3',
    'token-endpoint/exchange.ts',
    'parameters.check(grantType.parameters)',
    "parameters.check([...grantType.parameters, 'resource'])",
  ],
  [
    'EPT-4',
    'protocol/parameters.ts',
    'return Array.isArray(this.values.get(name)) ? repeated : undefined',
    'return undefined',
  ],
  [
    'EPT-5',
    'express/transport.ts',
    'required && !request.secure',
    "required && !request.secure && request.headers['x-forwarded-proto'] !== 'https'",
  ],
  [
    'TER-1',
    'express/client-failure.ts',
    "if (code === 'server_error') return 500",
    "if (code === 'server_error') return 500\n  if (code === 'unauthorized_client') return 403",
  ],
  [
    'TER-2',
    'express/client-failure.ts',
    "{ 'WWW-Authenticate': challengeOf(schemes, authorizationOf(request)) }",
    '{}',
  ],
  ['TER-3', 'express/client-failure.ts', "return { 'Retry-After': '1' }", 'return {}'],
  [
    'TER-4',
    'token-endpoint/exchange.ts',
    "throw unsupportedGrantType('grant_type_unknown'",
    "throw unauthorizedClient('grant_type_unknown'",
  ],
  ['TER-5', 'token-endpoint/exchange.ts', 'if (!client.grant_types.includes(grantType.name))', 'if (false)'],
]
