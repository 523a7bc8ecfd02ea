import { hash } from 'node:crypto'
import type { OAuthError } from '../protocol/oauth-error'
import type { Active, Authorization } from './authorization'

/** Something that is good for one authorization only, such as an assertion or a voucher. */
export interface OneTimeUse {
  /** Unique within the grant type; at most 65 536 characters. It may be secret: the store gets only a digest. */
  readonly key: string
  /**
   * Until when the store remembers the use, in whole seconds since the epoch. Choose a time at which every process
   * refuses the assertion or voucher as expired, even if clocks differ.
   */
  readonly until: number
  /** Makes the error that refuses a second use. */
  readonly refusal: () => OAuthError
}

/**
 * A second use gives the same id, under which the store creates no second record: one write is both the use and the
 * grant.
 */
export function idOfUse(names: readonly string[]): string {
  // Every id has 16 bytes. Different lists never give the same JSON.
  return hash('sha256', JSON.stringify(['one-time use', ...names]), 'buffer')
    .subarray(0, 16)
    .toString('base64url')
}

type UsedOnce = Active & { readonly usedUntil: number }

export const isUsedOnce = (authorization: Authorization | undefined): authorization is UsedOnce =>
  authorization?.state === 'active' && authorization.usedUntil !== undefined

/** What revocation leaves: the assertion or voucher must not become good again. */
export function tombstoneOf({ usedUntil, ...authorization }: UsedOnce): UsedOnce {
  const none = { extensionData: {}, accessTokens: [], refreshToken: undefined, lastResponse: undefined }
  return { ...authorization, ...none, usedUntil }
}

/** Undefined if the record only remembers a one-time use, as after a revocation. */
export function ignoreTombstone(authorization: Authorization | undefined): Authorization | undefined {
  if (!isUsedOnce(authorization)) return authorization
  return authorization.accessTokens.length === 0 && authorization.refreshToken === undefined
    ? undefined
    : authorization
}
