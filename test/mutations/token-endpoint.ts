import type { Mutation } from './mutation'

/** Breaks of the rules of the token endpoint and client authentication. */
export const tokenEndpoint: readonly Mutation[] = [
  ['TOK-1', 'refuseMethod', "{ Allow: methodsOf(endpoint).join(', ') }", '{}'],
  ['TOK-1', 'served', '!methods.includes(request.method)', "request.method === 'GET'"],
  ['TOK-2', 'decode', 'if (!isUtf8(bytes)) throw', 'if (false) throw'],
  ['TOK-3', 'neverInQuery', "  'refresh_token',\n", ''],
  ['TOK-4', 'readCredential', 'if (named !== undefined && named !== only.clientId)', 'if (false)'],
  [
    'TOK-5',
    'redirectUriMismatch',
    "return code.redirectUriSent ? refused('redirect_uri_missing', { registered }) : undefined",
    'return undefined',
  ],
  ['TOK-6', 'none', "header?.clientId ?? body.get('client_id')", 'header?.clientId'],
  [
    'TOK-8',
    'clientCredentials',
    'refreshToken: false',
    "refreshToken: client.grant_types.includes('refresh_token')",
  ],
  ['TOK-9', 'refreshScope', 'covers(granted, scope)', 'covers(scope, scope)'],
  [
    'TOK-11',
    'mayRefresh',
    "return client.grant_types.includes('refresh_token')",
    'return client !== undefined',
  ],
  [
    'CAU-1',
    'hasCredentials',
    "client_type === 'confidential' || client_secret_hashes.length > 0 ||",
    "client_type === 'confidential' ||",
  ],
  ['CAU-2', 'onlyOne', 'if (several || (only !== undefined && ignoresHeader(only, sources)))', 'if (false)'],
  ['CAU-3', 'formDecode', "text.replaceAll('+', ' ')", 'text'],
  [
    'CAU-4',
    'ClientVerification.verify',
    'if (registered !== undefined && registered !== method.name)',
    'if (false)',
  ],
  ['CAU-5', 'ignoresHeader', '(header).scheme, scheme)', "(header).scheme, 'Basic')"],
  [
    'CAU-6',
    'SecretVerifier.verify',
    'return withinLimits(async () =>',
    'return (async (verification: () => Promise<Verification>) => verification())(async () =>',
  ],
  ['CAU-6', 'served', 'requireTls(request, settings.tlsRequired)', 'void 0'],
  ['CAU-7', 'pkce', "client.client_type === 'public')", 'client.client_secret_hashes.length === 0)'],
]
