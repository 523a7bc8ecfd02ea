import { OAuthError } from '../../../lib/protocol/oauth-error'

/** The OAuthError that the call throws; fails when it throws none. */
export function thrownBy(call: () => unknown): OAuthError {
  try {
    call()
  } catch (error) {
    if (error instanceof OAuthError) return error
    throw error
  }
  throw new Error('Nothing was thrown.')
}
