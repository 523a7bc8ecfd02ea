import { invalidGrant, type OAuthError } from '../../../protocol/oauth-error'
import type { Reason } from '../../../protocol/reasons'

/** RFC 7522 3.1: one text for whatever is wrong with the assertion; the reason stays on this side. */
export function refused(reason: Reason<'invalid_grant'>, cause?: unknown): OAuthError {
  return invalidGrant(reason, 'The assertion is not valid.', { cause })
}
