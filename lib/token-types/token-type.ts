import type { Issued } from '../authorization/issue'

/** The door for token types (RFC 6749 7.1): what a token response says of one, and how a request carries it. */
export interface TokenType {
  /** `token_type` of the response; case-sensitive. */
  readonly name: string
  /** The HTTP authentication scheme that carries the token; compared without regard to case. */
  readonly scheme: string
  /** Further members of the token response. */
  properties(issued: Issued): Readonly<Record<string, string | number>>
}
