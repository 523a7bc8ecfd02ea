import type { TokenType } from './token-type'

/** RFC 6750: whoever holds the token may use it. */
export const bearer: TokenType = {
  name: 'bearer',
  scheme: 'Bearer',
  properties: () => ({}),
}
