import type { Mutation } from './mutation'

/** Breaks of what stops an attack of docs/security.md, where no requirement is about it. */
export const attacks: readonly Mutation[] = [
  [
    'token-32',
    'resourceIndicators',
    'return resource !== undefined && isFor ? undefined : tokenResource',
    'void isFor\n      return undefined',
  ],
  [
    'token-32',
    'rejectReasonOf',
    'if (resource === undefined && isForCertainResources(found)) return tokenResource',
    '',
  ],
  [
    'token-32',
    'ownAccess',
    'if (resources === undefined && isForCertainResources(found)) return undefined',
    '',
  ],
  ['token-33', 'restrictionOf', ' || (approved !== undefined && !isWithin(chosen, approved))', ''],
  ['token-33', 'restrictionOf', '{ tokenData: urisOf(chosen) }', '{}'],
  [
    'token-33',
    'scopeWithin',
    'if (lacking.length === 0) return scope',
    'if (lacking.length < 7) return scope',
  ],
  [
    'token-34',
    'guard',
    'if (cors?.(request, response) === true) return answered',
    "if (request.method === 'OPTIONS') return pass()",
  ],
  ['token-34', 'isPreflight', 'headers.origin !== undefined &&', ''],
  ['exchange-12', 'boundOf', '(byGrant ?? byToken)', 'byGrant'],
  [
    'exchange-12',
    'restrictionOf',
    'available.filter((token) => subjectToken.scope.includes(token))',
    'available',
  ],
  ['registration-1', 'adding', "if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then return '' end", ''],
  [
    'registration-1',
    'MemoryDynamicClients.add',
    'if (!this.clients.hasRoom(Math.min(maximum, mostClients))) return undefined',
    '',
  ],
  ['registration-3', 'newClient', "if (metadata.token_endpoint_auth_method === 'none')", 'if (false)'],
  ['registration-4', 'ownedBy', 'client !== undefined && isOwner &&', 'client !== undefined &&'],
  ['registration-12', 'requireInitialAccessToken', 'if (isGood !== true)', 'if (isGood === null)'],
  [
    'registration-13',
    'ownAccess',
    'return isDynamic && (await findClient(clientId)) === undefined ? undefined : found',
    'return isDynamic ? found : found',
  ],
]
