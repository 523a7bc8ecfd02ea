import type { Mutation } from './mutation'

/** Breaks of the rules of codes, tokens and scope. */
export const credentials: readonly Mutation[] = [
  [
    'COD-1',
    'protocol/credential.ts',
    'bytes.set(random(secretBytes), idBytes)',
    'bytes.set(Buffer.alloc(secretBytes), idBytes)',
  ],
  [
    'COD-2',
    'authorization/redeem-code.ts',
    "if (redemption.clientId !== current.clientId) return keep(refused('code_of_another_client'))",
    '',
  ],
  [
    'COD-3',
    'resolve-options.ts',
    "'authorizationCodeLifetime', 60, 1, 600",
    "'authorizationCodeLifetime', 60, 1, 601",
  ],
  [
    'COD-4',
    'authorization/redeem-code.ts',
    "if (current.state === 'active') return replay(current.spentCode, current.clientId, redemption)",
    "if (current.state === 'active') return spend({ ...current, state: 'approved', code: { digest: current.spentCode ?? '' } } as never, redemption, circumstances)",
  ],
  [
    'COD-5',
    'authorization/redeem-code.ts',
    "return remove(refused('code_replayed'))",
    "return keep(refused('code_replayed'))",
  ],
  ['COD-6', 'authorization/redeem-code.ts', 'if (code.expiresAt <= circumstances.now)', 'if (false)'],
  ['TKN-1', 'authorization/present-access-token.ts', '|| found.expiresAt <= now', ''],
  ['TKN-1', 'token-types/token-response.ts', '    scope: formatScope(scope),\n', ''],
  ['TKN-2', 'token-types/bearer.ts', "name: 'bearer'", "name: 'Bearer'"],
  [
    'TKN-3',
    'authorization/rotate-refresh-token.ts',
    "if (refresh.clientId !== current.clientId) return keep(refreshRefused('refresh_token_of_another_client'))",
    '',
  ],
  [
    'TKN-4',
    'authorization/rotate-refresh-token.ts',
    'rotate(current, refresh.refreshToken, scope, circumstances)',
    'rotate({ ...current, scope }, refresh.refreshToken, scope, circumstances)',
  ],
  [
    'TKN-5',
    'authorization/present-refresh-token-again.ts',
    "return remove(refreshRefused('refresh_token_reused'))",
    "return keep(refreshRefused('refresh_token_reused'))",
  ],
  [
    'TKN-6',
    'wire-host-revocation.ts',
    'end(store, authorizationId)',
    'Promise.resolve(void authorizationId)',
  ],
  [
    'TKN-7',
    'protocol/scope.ts',
    'if (!grammar.test(text)) return undefined',
    "text = text.trim().replace(/\\s+/g, ' ')\n  if (!grammar.test(text)) return undefined",
  ],
  ['TKN-8', 'protected-resource/admit.ts', 'if (!satisfies(found.access.scope, requirement))', 'if (false)'],
]
