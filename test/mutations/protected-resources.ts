import type { Mutation } from './mutation'

/** Breaks of the rules of protected resources. */
export const protectedResources: readonly Mutation[] = [
  ['RES-1', 'isSameScheme', 'one === other || one.toLowerCase() === other.toLowerCase()', 'one === other'],
  ['RES-2', 'accessIn', '|| found.expiresAt <= now', ''],
  [
    'RES-3',
    'guard',
    'challenges([], scopeIn(requirement.scope), {})',
    "challenges([], scopeIn(requirement.scope), { error: 'invalid_token' })",
  ],
]
