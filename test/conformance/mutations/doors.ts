import type { Mutation } from './mutation'

const assertionGrant = 'token-endpoint/grant-types/assertion/assertion-grant.ts'

/** Breaks of what comes through the doors: grants, methods, token types, registration while the server runs. */
export const doors: readonly Mutation[] = [
  ['TOK-7', 'attempts/attempt.ts', 'if (attempts > limit.attempts)', 'if (false)'],
  ['TOK-7', 'resolve-grant-types.ts', "'client_credentials',\n]", "'client_credentials', 'password',\n]"],
  [
    'TOK-7',
    'token-endpoint/grant-types/password/password.ts',
    'if (subject === undefined) throw',
    'if (false) throw',
  ],
  ['TOK-10', assertionGrant, 'bindings: {}, oneTimeUse }', 'bindings: {} }'],
  ['TOK-10', assertionGrant, 'if (subject === undefined)', 'if (false)'],
  ['TOK-10', 'token-endpoint/exchange.ts', 'requireProof(proof, grantType.name)', ''],
  ['TOK-10', 'resolve-grant-types.ts', "name !== 'password' && !isAbsoluteUri(name)", 'false'],
  ['TKN-2', 'protected-resource/admit.ts', 'if (found.access.tokenType !== tokenType.name)', 'if (false)'],
  ['TKN-2', 'token-types/mac/mac.ts', "isFirst ? undefined : 'mac_replayed'", 'undefined'],
  [
    'CAU-5',
    'client-authentication/authenticate-client.ts',
    'if (proven !== true && !byOldSecret)',
    'if (!proven)',
  ],
  [
    'CAU-5',
    'client-authentication/authenticate-client.ts',
    'if (!hasCredentialFor(method.name, client))',
    'if (false)',
  ],
  [
    'REG-1',
    'stores/memory-clients.ts',
    'if (this.registrations.has(registration.client_id)) return false',
    '',
  ],
]
