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
  ['token', 4096],
  ['token_type_hint', 256],
  ['client_assertion_type', 256],
  ['subject_token_type', 256],
  ['actor_token_type', 256],
  ['requested_token_type', 256],
  ['authorization_request', 256],
  ['decision', 256],
])

/** Whether a value is longer than its parameter may be, wherever it came from. */
export function isTooLong(name: string, value: string): boolean {
  return value.length > (longestValues.get(name) ?? Infinity)
}
