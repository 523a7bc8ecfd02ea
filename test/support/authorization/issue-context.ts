import { createHash } from 'node:crypto'
import { type IssueContext, type NewAccessToken, unrestricted } from '../../../lib/authorization/transition'
import type { Lifetimes } from '../../../lib/authorization/lifetimes'
import type { Scope } from '../../../lib/protocol/scope'
import { issuerDigest } from '../../../lib/authorization/issuer'
import type { Random } from '../../../lib/protocol/credential'
import type { TokenType, TokenTypes } from '../../../lib/protocol/token-type'
import { bearer } from '../../../lib/extensions/token-types/bearer'

/** When the stories begin, in seconds since the epoch. */
export const noon = 1_800_000_000

export const lifetimes: Lifetimes = {
  authorizationRequest: 600,
  authorizationCode: 60,
  accessToken: 3600,
  refreshToken: 30 * 24 * 3600,
  refreshTokenGrace: 30,
}

/** Bytes that look random, never come twice, and are the same in each run of the test. */
export function countedRandom(): Random {
  let calls = 0
  return (bytes) => createHash('shake256', { outputLength: bytes }).update(`${calls++}`).digest()
}

/** Keeps a text with each token, and gives another one to the client. */
export const stamped: TokenType = {
  name: 'stamped',
  scheme: 'Stamped',
  issue: (_accessToken, { now, random }) => ({
    properties: { stamp: random(6).toString('hex'), stamped_at: now },
    tokenData: { stampedAt: now },
  }),
  read: (credentials) => bearer.read(credentials),
}

export const tokenTypes: TokenTypes = new Map([bearer, stamped].map((type) => [type.name, type]))

/** Of the server in all stories. */
export const ownIssuer = issuerDigest('https://auth.example')

const shared = countedRandom()

/** Noon, the default lifetimes and fresh random bytes, unless bent. */
export function context(
  bend: {
    readonly now?: number
    readonly random?: Random
    readonly lifetimes?: Partial<Lifetimes>
    readonly restrict?: IssueContext['restrict']
    readonly keepsRefreshToken?: IssueContext['keepsRefreshToken']
  } = {},
): IssueContext {
  const { now = noon, random = shared, restrict = unrestricted, keepsRefreshToken } = bend
  return {
    now,
    issuerDigest: ownIssuer,
    random,
    lifetimes: { ...lifetimes, ...bend.lifetimes },
    tokenTypes,
    countIssue: () => {},
    keepsRefreshToken,
    restrict,
  }
}

/** An access token of this scope, unrestricted unless bent. */
export const tokenOf = (scope: Scope, bend: Partial<NewAccessToken> = {}): NewAccessToken => ({
  scope,
  lifetime: undefined,
  extensionData: {},
  authorizationData: {},
  ...bend,
})

/** So many seconds after noon. */
export const later = (seconds: number, bend: Partial<Lifetimes> = {}): IssueContext =>
  context({ now: noon + seconds, lifetimes: bend })
