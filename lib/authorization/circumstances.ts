import type { Random } from '../protocol/credential'
import type { TokenTypes } from '../protocol/token-type'

/** What every transition is given from outside, so that it stays pure. */
export interface Circumstances {
  /** Seconds since the epoch. */
  readonly now: number
  readonly random: Random
  readonly lifetimes: Lifetimes
  readonly tokenTypes: TokenTypes
}

/** How long credentials live, in seconds. */
export interface Lifetimes {
  readonly authorizationRequest: number
  readonly authorizationCode: number
  readonly accessToken: number
  readonly refreshToken: number
  /** How long after a rotation the old refresh token still gets the same answer again. */
  readonly refreshTokenGrace: number
}
