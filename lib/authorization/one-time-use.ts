import { hash } from 'node:crypto'
import type { OAuthError } from '../protocol/oauth-error'
import type { Active, Authorization } from './authorization'

/** What a grant uses up: an assertion or a voucher, for example, that is good for one authorization. */
export interface OneTimeUse {
  /**
   * Names what is used up, uniquely within the grant type: at most 65 536 characters. It may be secret, because the store
   * gets a digest of it.
   */
  readonly key: string
  /**
   * Whole seconds since the epoch: what is used up stays so until then. Name a moment at which no process takes it any
   * more, whichever clock that process has.
   */
  readonly until: number
  /** Makes the refusal of a second use. */
  readonly refusal: () => OAuthError
}

/**
 * The id of the authorization that a one-time use begins. Everybody who uses the same thing comes to the same id, so the
 * write that creates the record is the use: no use without tokens, and no tokens without the use.
 *
 * @param names what the key is unique within, from the issuer down to the key.
 */
export function idOfUse(names: readonly string[]): string {
  // The first 16 bytes, as any id has. JSON, so that no two lists of names read the same.
  return hash('sha256', JSON.stringify(['one-time use', ...names]), 'buffer')
    .subarray(0, 16)
    .toString('base64url')
}

/** An authorization that began with a one-time use: its record is there until the use may be forgotten. */
export type UsedOnce = Active & { readonly usedUntil: number }

export function isUsedOnce(authorization: Authorization | undefined): authorization is UsedOnce {
  return authorization?.state === 'active' && authorization.usedUntil !== undefined
}

/** What revocation leaves of the authorization: no credential and nothing of the grant, but the use. */
export function remainsOf({ usedUntil, ...authorization }: UsedOnce): UsedOnce {
  return { ...authorization, extensionData: {}, accessTokens: [], refreshToken: undefined, usedUntil }
}

/** The authorization, or undefined where revocation has left nothing of it but the use. */
export function unlessRemains(authorization: Authorization | undefined): Authorization | undefined {
  if (!isUsedOnce(authorization)) return authorization
  return authorization.accessTokens.length === 0 && authorization.refreshToken === undefined
    ? undefined
    : authorization
}
