import { Throttled, type OAuthError } from '../protocol/oauth-error'

/** Which event tells of an error, and the members that it has beside those of a refusal. */
export type ErrorEventMembers =
  | { readonly event: 'refused' | 'replayed' | 'reused' }
  | { readonly event: 'throttled'; readonly retryAfter: number }
  | { readonly event: 'failure'; readonly cause: unknown }

// RFC 6749 4.1.2 and RFC 9700 4.14.2: each is a sign of theft, and worth an alarm of its own.
const signsOfTheft: ReadonlyMap<string, 'replayed' | 'reused'> = new Map([
  ['code_replayed', 'replayed'],
  ['refresh_token_reused', 'reused'],
])

export function errorEventOf(error: OAuthError): ErrorEventMembers {
  const { code, reason, cause } = error
  if (error instanceof Throttled) return { event: 'throttled', retryAfter: error.retryAfter }
  // A refusal may have a cause, too, such as what a parser said of the request; maintenance has none.
  if (code === 'server_error' || (code === 'temporarily_unavailable' && cause !== undefined))
    return { event: 'failure', cause: cause ?? error }
  return { event: signsOfTheft.get(reason) ?? 'refused' }
}
