import type { OAuthError } from './oauth-error'

/**
 * What a request uses up, such as an assertion: of any number of requests with the same key, one passes. The server
 * uses it up last, so a request refused for another reason uses nothing up.
 */
export interface SingleUse {
  /** Without its content. */
  readonly key: string
  /** How long the server remembers the use, in whole seconds. */
  readonly seconds: number
  /** Of every later use. */
  readonly refusal: () => OAuthError
}
