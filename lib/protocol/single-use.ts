import type { OAuthError } from './oauth-error'

/**
 * What a request uses up, such as an assertion: of all requests with one key, one passes. The server uses it up last,
 * so a refused request uses nothing up.
 */
export interface SingleUse {
  /** Without its content. */
  readonly key: string
  /** How long the server remembers it, in whole seconds. */
  readonly seconds: number
  /** For every later use. */
  readonly refusal: () => OAuthError
}
