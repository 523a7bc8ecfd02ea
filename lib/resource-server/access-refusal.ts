import { errorMembers } from '../protocol/oauth-error'
import type { Reason } from '../protocol/reasons'
import { formatScope, type Scope } from '../protocol/scope'
import type { Challenge } from './challenge'

/** The error codes of a refused request to a protected resource (RFC 6750 3.1). */
export type AccessRefusalCode = 'invalid_request' | 'invalid_token' | 'insufficient_scope'

/** The refusal of a request to a protected resource. The client gets the status and the challenge, and no more. */
export class AccessRefusal extends Error {
  override readonly name = 'AccessRefusal'

  private constructor(
    readonly status: 400 | 401 | 403,
    /** Undefined if the request shows no token: the response then contains no error (RFC 6750 3.1). */
    readonly code: AccessRefusalCode | undefined,
    /** The reason for logs and events, a stable word. */
    readonly reason: string,
    readonly description: string,
    readonly scope: Scope,
  ) {
    super(description)
  }

  static noToken(scope: Scope): AccessRefusal {
    return new AccessRefusal(401, undefined, 'token_missing', 'An access token is required.', scope)
  }

  static malformed(reason: Reason<'invalid_request'>, scope: Scope): AccessRefusal {
    const description = 'The request does not carry one access token in one Authorization header.'
    return new AccessRefusal(400, 'invalid_request', reason, description, scope)
  }

  /** @param reason a reason of the suite, or of an extension of the host. */
  static badToken(reason: string, scope: Scope): AccessRefusal {
    const description = 'The access token is unknown, expired or revoked.'
    return new AccessRefusal(401, 'invalid_token', reason, description, scope)
  }

  /** The refusal of a valid token without the proof that its token type demands. */
  static unproven(reason: string, scope: Scope): AccessRefusal {
    const description = 'The request does not prove that it may use the access token.'
    return new AccessRefusal(401, 'invalid_token', reason, description, scope)
  }

  static insufficientScope(scope: Scope): AccessRefusal {
    const description = 'The access token does not have the scope that this resource needs.'
    return new AccessRefusal(403, 'insufficient_scope', 'token_scope_insufficient', description, scope)
  }

  /** The members of the response; none if the request shows no token (RFC 6750 3.1). */
  members(errorUri: string | undefined): Record<string, string> {
    return this.code === undefined
      ? {}
      : errorMembers({ code: this.code, description: this.description }, errorUri)
  }

  /** The value of `WWW-Authenticate` for one scheme. */
  challenge(scheme: string, challenge: Challenge, errorUri: string | undefined): string {
    const attributes = [`realm="${challenge.realm}"`]
    if (this.scope.length > 0) attributes.push(`scope="${formatScope(this.scope)}"`)
    for (const [name, value] of Object.entries(this.members(errorUri))) attributes.push(`${name}="${value}"`)
    if (challenge.resourceMetadata !== undefined)
      attributes.push(`resource_metadata="${challenge.resourceMetadata}"`)
    for (const [name, value] of challenge.attributes) attributes.push(`${name}="${value}"`)
    return `${scheme} ${attributes.join(', ')}`
  }
}
