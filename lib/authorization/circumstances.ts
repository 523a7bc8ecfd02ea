import type { Random } from '../protocol/credential'
import type { TokenTypes } from '../protocol/token-type'

/** What every transition is given from outside, so that it stays pure. */
export interface IssueContext {
  /** Seconds since the epoch. */
  readonly now: number
  /** Names this server in the records that it writes. */
  readonly issuerDigest: string
  readonly random: Random
  /** Where the secret of a code comes from that can be made again; left out: `random`. */
  readonly codeSecrets?: Random
  readonly lifetimes: Lifetimes
  readonly tokenTypes: TokenTypes
  /**
   * Counts that tokens are issued; once for all rounds of one request.
   *
   * @param subject the resource owner; undefined for a client that acts for itself.
   * @throws OverShare when the client or the owner has had its share. Nothing is written then.
   */
  readonly countIssue: (clientId: string, subject: string | undefined) => void
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
