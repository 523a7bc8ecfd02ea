import { OAuthError, type OAuthErrorCode, type OAuthErrorOptions, Throttled } from './oauth-error'

const errorOf =
  (code: OAuthErrorCode) =>
  (reason: string, description: string, options?: OAuthErrorOptions): OAuthError =>
    new OAuthError(code, reason, description, options)

/** A parameter is missing, repeated or malformed. */
export const invalidRequest = errorOf('invalid_request')
/** Client authentication failed. */
export const invalidClient = errorOf('invalid_client')
/** The grant, such as an assertion, is not valid for this request. */
export const invalidGrant = errorOf('invalid_grant')
/** The scope is malformed, unknown or more than the client may have. */
export const invalidScope = errorOf('invalid_scope')
/** The resource or audience is unknown or not acceptable (RFC 8693 2.2.2, RFC 8707 2). */
export const invalidTarget = errorOf('invalid_target')
/** The client may not use this grant or response type. */
export const unauthorizedClient = errorOf('unauthorized_client')
/** The owner, or the host for the owner, has denied the request. */
export const accessDenied = errorOf('access_denied')
/** The server has failed. */
export const serverError = errorOf('server_error')
/** What the server needs, such as a store, does not respond in time. The client may try again. */
export const temporarilyUnavailable = errorOf('temporarily_unavailable')

/** @param retryAfter whole seconds until the next try. */
export const tooManyAttempts = (reason: string, description: string, retryAfter: number): Throttled =>
  new Throttled(reason, description, retryAfter)
