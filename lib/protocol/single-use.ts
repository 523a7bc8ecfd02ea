import type { OAuthError } from './oauth-error'

/**
 * What a request uses up, such as an assertion of its client. Of any number of requests with the same key, one passes. The
 * server uses it up last: what refuses the request for another reason uses nothing up.
 */
export interface SingleUse {
  /** Names it, without its content. */
  readonly key: string
  /** Whole seconds for which the server remembers the use. */
  readonly seconds: number
  /** Makes the refusal of every later use. */
  readonly refusal: () => OAuthError
}
