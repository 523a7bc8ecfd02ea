import type { Mutation } from './mutation'

/** Breaks of the rules of codes, tokens and scope. */
export const credentials: readonly Mutation[] = [
  [
    'COD-1',
    'createCredential',
    'bytes.set(random(secretBytes), idBytes)',
    'bytes.set(Buffer.alloc(secretBytes), idBytes)',
  ],
  [
    'COD-2',
    'redeemCode',
    "if (redemption.clientId !== current.clientId) return { action: 'none', refusal: refused('code_of_another_client') }",
    '',
  ],
  ['COD-3', 'resolveLifetimes', "'authorizationCode', 60, 1, 600", "'authorizationCode', 60, 1, 601"],
  [
    'COD-4',
    'redeemCode',
    "if (current.state === 'active') return replay(current, redemption)",
    "if (current.state === 'active') return spend({ ...current, state: 'approved', code: { digest: current.spentCode ?? '' } } as never, redemption, context)",
  ],
  ['COD-5', 'replay', "return { action: 'delete',", "return { action: 'none',"],
  ['COD-6', 'redeemCode', 'if (code.expiresAt <= context.now)', 'if (false)'],
  ['TKN-1', 'accessIn', '|| found.expiresAt <= now', ''],
  ['TKN-1', 'tokenResponse', '    scope: formatScope(scope),\n', ''],
  ['TKN-2', 'bearer', "name: 'bearer'", "name: 'Bearer'"],
  [
    'TKN-3',
    'rotateRefreshToken',
    "if (refresh.clientId !== current.clientId) return { action: 'none', refusal: refreshRefused('refresh_token_of_another_client') }",
    '',
  ],
  [
    'TKN-4',
    'rotateRefreshToken',
    'rotate(current, refresh.refreshToken, token, context)',
    'rotate({ ...current, scope: token.scope }, refresh.refreshToken, token, context)',
  ],
  ['TKN-5', 'refuseReplaced', "return { action: 'delete',", "return { action: 'none',"],
  ['TKN-6', 'revokeFound', 'end(store, authorizationId)', 'Promise.resolve(void authorizationId)'],
  [
    'TKN-7',
    'parseScope',
    'if (!grammar.test(text)) return undefined',
    "text = text.trim().replace(/\\s+/g, ' ')\n  if (!grammar.test(text)) return undefined",
  ],
  ['TKN-8', 'admitToken', 'if (!satisfies(covered, requirement))', 'if (false)'],
]
