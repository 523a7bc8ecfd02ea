import type { Mutation } from './mutation'

/** Breaks of the rules of the token endpoint and client authentication. */
export const tokenEndpoint: readonly Mutation[] = [
  ['TOK-1', 'express/client-post.ts', "{ Allow: 'POST' }", '{}'],
  ['TOK-1', 'express/client-post.ts', "request.method !== 'POST'", "request.method === 'GET'"],
  ['TOK-2', 'express/form-body.ts', 'if (!isUtf8(bytes)) throw', 'if (false) throw'],
  ['TOK-3', 'client-authentication/presented-client.ts', "  'refresh_token',\n", ''],
  [
    'TOK-4',
    'client-authentication/presented-client.ts',
    'if (named !== undefined && named !== only.clientId)',
    'if (false)',
  ],
  [
    'TOK-5',
    'authorization/redeem-code.ts',
    "return code.redirectUriSent ? refused('redirect_uri_missing') : undefined",
    'return undefined',
  ],
  [
    'TOK-6',
    'client-authentication/methods/none.ts',
    "header?.clientId ?? body.get('client_id')",
    'header?.clientId',
  ],
  [
    'TOK-8',
    'token-endpoint/grant-types/client-credentials.ts',
    'refreshToken: false',
    "refreshToken: client.grant_types.includes('refresh_token')",
  ],
  [
    'TOK-9',
    'authorization/refresh-refusal.ts',
    'return covers(granted, scope)',
    'return covers(scope, scope)',
  ],
  [
    'TOK-11',
    'token-endpoint/grant-type.ts',
    "return client.grant_types.includes('refresh_token')",
    'return client !== undefined',
  ],
  [
    'CAU-1',
    'protocol/client.ts',
    "client_type === 'confidential' || client_secret_hashes.length > 0 ||",
    "client_type === 'confidential' ||",
  ],
  [
    'CAU-2',
    'client-authentication/presented-client.ts',
    'if (several || (only !== undefined && ignoresHeader(only, sources)))',
    'if (false)',
  ],
  ['CAU-3', 'client-authentication/methods/basic-credentials.ts', "text.replaceAll('+', ' ')", 'text'],
  [
    'CAU-4',
    'client-authentication/authenticate-client.ts',
    'if (registered !== undefined && registered !== method.name)',
    'if (false)',
  ],
  ['CAU-5', 'client-authentication/presented-client.ts', 'method.scheme?.toLowerCase()', "'basic'"],
  [
    'CAU-6',
    'client-authentication/secret-verifier.ts',
    'return withinLimits(async () =>',
    'return (async (verification: () => Promise<Verification>) => verification())(async () =>',
  ],
  ['CAU-6', 'express/client-post.ts', '    requireTls(request, edge.tlsRequired)\n', ''],
  [
    'CAU-7',
    'extensions/pkce.ts',
    "client.client_type === 'public')",
    'client.client_secret_hashes.length === 0)',
  ],
]
