/** How many parameters a query or a body may have; more than any grant has use for. */
export const parametersAtMost = 100

/**
 * How long the values of known parameters may be, in characters after decoding; `docs/bounds.md` has the same table. What
 * is not in it is bounded by the body or the request head alone: assertions, security tokens and what nobody reads.
 */
export const longestValues: ReadonlyMap<string, number> = new Map([
  ['client_id', 256],
  ['client_secret', 1024],
  ['redirect_uri', 2048],
  ['state', 4096],
  ['scope', 4096],
  ['response_type', 256],
  ['grant_type', 256],
  ['code', 4096],
  ['refresh_token', 4096],
  ['token_type_hint', 256],
  ['client_assertion_type', 256],
  ['subject_token_type', 256],
  ['actor_token_type', 256],
  ['requested_token_type', 256],
  ['authorization_request', 256],
  ['decision', 256],
])

/** How large a member of a registration may be: characters of a text or of `credentials` as JSON, entries of a list. */
export const largestMembers = [
  ['client_name', 256],
  ['description', 4096],
  ['client_uri', 2048],
  ['logo_uri', 2048],
  ['policy_uri', 2048],
  ['tos_uri', 2048],
  ['scope', 4096],
  ['redirect_uris', 100],
  ['client_secret_hashes', 10],
  ['credentials', 16_384],
] as const

/** How long a `state` may be that is sent back with an error, in characters. A longer one cannot be echoed. */
export const longestEchoedState = 16 * 1024

/** Whether a value is longer than its parameter may be, wherever it came from. */
export function isTooLong(name: string, value: string): boolean {
  return value.length > (longestValues.get(name) ?? Infinity)
}
