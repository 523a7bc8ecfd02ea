import type { Mutation } from './mutation'

/** Breaks of what comes through the doors: grants, methods, token types, registration while the server runs. */
export const doors: readonly Mutation[] = [
  ['TOK-7', 'count', 'if (attempts > limit.attempts)', 'if (false)'],
  ['TOK-7', 'builtInGrantTypes', "'client_credentials',\n]", "'client_credentials', 'password',\n]"],
  ['TOK-7', 'password', 'if (subject === undefined) throw', 'if (false) throw'],
  [
    'TOK-10',
    'grantByAssertion',
    'return { subject, refreshToken: false, oneTimeUse }',
    'return { subject, refreshToken: false } as never',
  ],
  ['TOK-10', 'grantByAssertion', 'if (subject === undefined)', 'if (false)'],
  ['TOK-10', 'checkedGrantType', 'requireGrantResult(result, name)', ''],
  ['TOK-10', 'resolveGrantTypes', "name !== 'password' && !isAbsoluteUri(name)", 'false'],
  ['TKN-2', 'admitToken', 'if (found.access.tokenType !== tokenType.name)', 'if (false)'],
  ['TKN-2', 'presented', "isFirst ? undefined : 'mac_replayed'", 'undefined'],
  ['CAU-5', 'ClientVerification.verify', 'if (proven !== true && !byOldSecret)', 'if (!proven)'],
  ['CAU-5', 'ClientVerification.verify', 'if (!hasCredentialFor(method.name, client))', 'if (false)'],
  ['REG-1', 'MemoryClients.add', 'if (this.registrations.has(registration.client_id)) return false', ''],
]
