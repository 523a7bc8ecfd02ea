import { OAuthError, Throttled, type OAuthErrorCode } from './oauth-error'

// The errors that plug-ins of a host throw. They are those of `oauth-error.ts`, with reasons that the host chooses.

const error =
  (code: OAuthErrorCode) =>
  (reason: string, description: string, options?: { readonly cause?: unknown }): OAuthError =>
    new OAuthError(code, reason, description, options)

/** A parameter is missing, repeated or malformed. */
export const invalidRequest = error('invalid_request')
/** Client authentication failed. */
export const invalidClient = error('invalid_client')
/** The grant, such as an assertion or the owner's credentials, is not good for this request. */
export const invalidGrant = error('invalid_grant')
/** The scope is malformed, unknown or more than the client may have. */
export const invalidScope = error('invalid_scope')
/** The resource or audience of the request is unknown or not acceptable (RFC 8693 2.2.2, RFC 8707 2). */
export const invalidTarget = error('invalid_target')
/** The client may not use this grant type or response type. */
export const unauthorizedClient = error('unauthorized_client')
/** The resource owner, or the host in their name, said no. */
export const accessDenied = error('access_denied')
/** Something broke on this side. */
export const serverError = error('server_error')
/** Something that this side depends on does not answer in time: the client may try again. */
export const temporarilyUnavailable = error('temporarily_unavailable')

/** There were too many such requests. @param retryAfter whole seconds after which the client may come again. */
export const tooManyAttempts = (reason: string, description: string, retryAfter: number): Throttled =>
  new Throttled(reason, description, retryAfter)
