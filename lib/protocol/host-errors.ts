import { errorOf, Throttled } from './oauth-error'

// Plug-ins of a host throw these. They are the errors of `oauth-error.ts`, with reasons that the host chooses.

/** A parameter is missing, repeated or malformed. */
export const invalidRequest = errorOf('invalid_request')
/** Client authentication failed. */
export const invalidClient = errorOf('invalid_client')
/** The grant, such as an assertion or the owner's credentials, is not good for this request. */
export const invalidGrant = errorOf('invalid_grant')
/** The scope is malformed, unknown or more than the client may have. */
export const invalidScope = errorOf('invalid_scope')
/** The resource or audience of the request is unknown or not acceptable (RFC 8693 2.2.2, RFC 8707 2). */
export const invalidTarget = errorOf('invalid_target')
/** The client may not use this grant type or response type. */
export const unauthorizedClient = errorOf('unauthorized_client')
/** The resource owner, or the host in their name, said no. */
export const accessDenied = errorOf('access_denied')
/** Something broke on this side. */
export const serverError = errorOf('server_error')
/** Something that this side depends on does not answer in time: the client may try again. */
export const temporarilyUnavailable = errorOf('temporarily_unavailable')

/** There were too many such requests. @param retryAfter whole seconds after which the client may come again. */
export const tooManyAttempts = (reason: string, description: string, retryAfter: number): Throttled =>
  new Throttled(reason, description, retryAfter)
