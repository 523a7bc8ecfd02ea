import type { Access } from '../authorization/present-access-token'
import { formatScope } from '../protocol/scope'

/** An introspection response (RFC 7662 2.2); what does not apply is left out, never null. */
export type Introspection = { readonly active: false } | ActiveToken

interface ActiveToken {
  readonly active: true
  readonly scope: string
  readonly client_id: string
  /** Left out for a refresh token: no request is made with one. */
  readonly token_type?: string
  readonly exp: number
  readonly sub: string
  readonly iss: string
}

/** All that is said of a token that is not good (RFC 7662 2.2): not why, and not whether it ever was. */
export const inactive: Introspection = { active: false }

/** What is said of a token that is good right now. */
export function introspectionOf(
  { scope, clientId, subject, expiresAt }: Access,
  { issuer, tokenType }: { readonly issuer: string; readonly tokenType?: string },
): Introspection {
  return {
    active: true,
    scope: formatScope(scope),
    client_id: clientId,
    ...(tokenType === undefined ? {} : { token_type: tokenType }),
    exp: expiresAt,
    // A client that acts for itself is its own subject (RFC 9068 2.2 has it so, and resource servers read it).
    sub: subject ?? clientId,
    iss: issuer,
  }
}
