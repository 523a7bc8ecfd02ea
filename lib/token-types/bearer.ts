import type { TokenType } from '../protocol/token-type'

/** RFC 6750: whoever holds the token may use it. */
export const bearer: TokenType = {
  name: 'bearer',
  scheme: 'Bearer',
  read: (credentials) =>
    credentials === '' || credentials.includes(' ') ? undefined : { accessToken: credentials },
}
