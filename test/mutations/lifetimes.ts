import type { Mutation } from './mutation'

/** Breaks of the rules of lifetimes. */
export const lifetimeRules: readonly Mutation[] = [
  [
    'LIF-1',
    'accessTokenEnd',
    'Math.min(lifetimes.accessToken, lifetime ?? Infinity)',
    'lifetimes.accessToken',
  ],
  [
    'LIF-1',
    'lifetimesFor',
    'Math.min(server.accessToken, access_token_lifetime ?? Infinity)',
    'server.accessToken',
  ],
  ['LIF-1', 'longerLifetimes', 'if (own === undefined || own <= most) return []', 'return []'],
  ['LIF-2', 'introspectionOf', 'exp: expiresAt,', 'exp: expiresAt + 1,'],
  ['LIF-2', 'accessIn', '|| found.expiresAt <= now', ''],
  ['LIF-3', 'refreshTokenEnd', 'moment.now + moment.lifetimes.refreshToken', 'Infinity'],
  ['LIF-4', 'accessTokenEnd', 'Math.min(usual, endOfGrant(grantedAt, moment))', 'usual'],
  ['LIF-4', 'endOfGrant', 'Math.min(grantedAt ?? now, now) + grant', 'now + grant'],
  [
    'LIF-5',
    'tokenResponse',
    'if (namesRefreshTokenEnd && refreshTokenExpiresAt',
    'if (refreshTokenExpiresAt',
  ],
  ['LIF-5', 'refreshTokenEnd', ', endOfGrant(grantedAt, moment)', ''],
]
