import { OAuthError } from '../../../lib/protocol/oauth-error'

/** Code and reason of the OAuthError that the promise ends in; fails when it ends otherwise. */
export async function refusalOf(
  attempt: Promise<unknown>,
): Promise<{ readonly code: string; readonly reason: string }> {
  try {
    await attempt
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return { code: error.code, reason: error.reason }
  }
  throw new Error('Nothing was refused.')
}
