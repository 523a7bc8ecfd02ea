import type { Mutation } from './mutation'

/** Breaks of the rules of answers, errors and both endpoints. */
export const answers: readonly Mutation[] = [
  ['RSP-1', 'sendJson', 'application/json; charset=utf-8', 'application/json'],
  ['RSP-2', 'tokenResponse', 'access_token: accessToken,', 'accesstoken: accessToken,'],
  ['RSP-3', 'tokenResponse', 'expires_in: expiresAt - now', 'expires_in: String(expiresAt - now)'],
  ['RSP-4', 'tokenResponse', '    scope: formatScope(scope),\n', ''],
  [
    'RSP-5',
    'redirectTo',
    "      Location: location,\n      'Cache-Control': 'no-store',",
    '      Location: location,',
  ],
  ['RSP-5', 'sendJson', "  'Cache-Control': 'no-store',\n", ''],
  ['RSP-6', 'malformedScope', "'The scope is malformed.'", '`The scope ${text} is malformed.`'],
  ['RSP-6', 'exchange', "'The grant type is not supported.'", '\'The "grant type" is not supported.\''],
  ['RSP-6', 'methodNotAllowed', 'The ${endpoint} endpoint', 'The "${endpoint}" endpoint'],
  [
    'RSP-6',
    'badToken',
    "'The access token is unknown, expired or revoked.'",
    "'The access token is unknown, expired or \\\\ revoked.'",
  ],
  ['RSP-6', 'faulty', 'The parameter ${name} ${fault}.', 'The parameter "${name}" ${fault}.'],
  ['RSP-6', 'sendJson', "  Pragma: 'no-cache',\n", ''],
  ['RSP-6', 'challengeBy', 'Basic realm="oauth", charset="UTF-8"', 'Basic realm=oauth'],
  ['EPT-1', 'isPath', '.pathname === value', ".pathname !== ''"],
  ['EPT-1', 'resolveIssuer', "|| issuer.includes('#')", ''],
  [
    'EPT-2',
    'Parameters.peek',
    "typeof value === 'string' && value !== '' ? value : undefined",
    "typeof value === 'string' ? value : undefined",
  ],
  [
    'EPT-3',
    'exchange',
    'parameters.check(grantType.parameters)',
    "parameters.check([...grantType.parameters, 'resource'])",
  ],
  [
    'EPT-4',
    'Parameters.faultOf',
    'return Array.isArray(this.values.get(name)) ? repeated : undefined',
    'return undefined',
  ],
  [
    'EPT-5',
    'requireTls',
    'required && !request.secure',
    "required && !request.secure && request.headers['x-forwarded-proto'] !== 'https'",
  ],
  [
    'TER-1',
    'statusOf',
    'return own ?? usualStatus.get(code) ?? 400',
    "return own ?? usualStatus.get(code) ?? (code === 'unauthorized_client' ? 403 : 400)",
  ],
  ['TER-2', 'challengeFor', "{ 'WWW-Authenticate': challengeOf(schemesOf(methods), authorization) }", '{}'],
  ['TER-3', 'headersOf', "{ 'Retry-After': '1', ...headers }", '{ ...headers }'],
  [
    'TER-4',
    'exchange',
    "throw unsupportedGrantType('grant_type_unknown'",
    "throw unauthorizedClient('grant_type_unknown'",
  ],
  ['TER-5', 'exchange', 'if (!client.grant_types.includes(grantType.name))', 'if (false)'],
]
