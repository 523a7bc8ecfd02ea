import { hash } from 'node:crypto'
import type { OAuthError } from '../protocol/oauth-error'
import type { Active, Authorization } from './authorization'

/** The use of something that is good for one authorization only, such as an assertion or a voucher. */
export interface OneTimeUse {
  /**
   * Identifies the assertion or voucher, uniquely within the grant type: at most 65 536 characters. The key may be
   * secret, because the store gets only a digest.
   */
  readonly key: string
  /**
   * The time until which the store remembers the use, in whole seconds since the epoch. Choose a time at which every
   * process refuses the assertion or voucher as expired, even if the clocks of the processes differ.
   */
  readonly until: number
  /** Makes the error that refuses a second use. */
  readonly refusal: () => OAuthError
}

/**
 * Derives the id of the authorization that begins with a one-time use. A second use gives the same id, and the store
 * creates no second record under this id. So one write is both the use and the grant: the server never notes a use
 * without issuing tokens, and never issues tokens without noting the use.
 *
 * @param names the issuer, the grant type and the key.
 */
export function idOfUse(names: readonly string[]): string {
  // Every id has 16 bytes. JSON keeps the names apart: two different lists never give the same text.
  return hash('sha256', JSON.stringify(['one-time use', ...names]), 'buffer')
    .subarray(0, 16)
    .toString('base64url')
}

/** An authorization that began with a one-time use. The store keeps the record until `usedUntil` at least. */
type UsedOnce = Active & { readonly usedUntil: number }

export function isUsedOnce(authorization: Authorization | undefined): authorization is UsedOnce {
  return authorization?.state === 'active' && authorization.usedUntil !== undefined
}

/**
 * The record that revocation leaves in the store: without tokens and data of extensions. The record stays because the
 * assertion or voucher must not become good again.
 */
export function tombstoneOf({ usedUntil, ...authorization }: UsedOnce): UsedOnce {
  return { ...authorization, extensionData: {}, accessTokens: [], refreshToken: undefined, usedUntil }
}

/** The authorization; undefined if the record only remembers a one-time use, as after a revocation. */
export function ignoreTombstone(authorization: Authorization | undefined): Authorization | undefined {
  if (!isUsedOnce(authorization)) return authorization
  return authorization.accessTokens.length === 0 && authorization.refreshToken === undefined
    ? undefined
    : authorization
}
