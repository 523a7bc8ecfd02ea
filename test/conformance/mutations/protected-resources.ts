import type { Mutation } from './mutation'

/** Breaks of the rules of protected resources. */
export const protectedResources: readonly Mutation[] = [
  [
    'RES-1',
    'protected-resource/admit.ts',
    'one === other || one.toLowerCase() === other.toLowerCase()',
    'one === other',
  ],
  ['RES-2', 'authorization/present-access-token.ts', '|| found.expiresAt <= now', ''],
  ['RES-3', 'protected-resource/access-refusal.ts', 'return this.code === undefined', 'return true'],
]
