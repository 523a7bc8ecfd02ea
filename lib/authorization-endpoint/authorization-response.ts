import type { PendingRequest } from '../authorization/authorization'
import { errorMembers } from '../protocol/error-response'
import type { OAuthError } from '../protocol/oauth-error'
import { appendToQuery } from '../protocol/redirect-uri'
import type { ServerContext } from '../server/context'
import type { RedirectMethod, ResponseType } from './response-types'

/** The values that all responses to one authorization request share. */
export interface ResponseFrame {
  readonly clientId: string
  readonly redirectUri: string
  /** The response type of the request. Undefined if the server does not know it: an error then goes into the query. */
  readonly responseType: Pick<ResponseType, 'mode' | 'redirectBy'> | undefined
  /** The parameter `state` as the client sent it; undefined if the request had none. */
  readonly requestState: string | undefined
  readonly issuer: string
  /** The URL of the page that explains error codes; undefined if the host has none. */
  readonly errorUri: string | undefined
}

/** Makes the frame of the responses to a request. */
export function frameOf(
  { settings: { issuer, errorUri }, responseTypes }: ServerContext,
  clientId: string,
  { redirectUri, responseType, requestState }: Omit<PendingRequest, 'redirectUriSent'>,
): ResponseFrame {
  return {
    clientId,
    redirectUri,
    responseType: responseTypes.get(responseType),
    requestState,
    issuer,
    errorUri,
  }
}

/** Sends the user agent back to the client, with a success or an error. */
export interface Redirection {
  readonly kind: 'redirect'
  readonly location: string
  readonly redirectBy: RedirectMethod
  readonly error: OAuthError | undefined
  readonly clientId: string
  /** Whether the resource owner decides on a page whether to go there. Default: the user agent goes at once. */
  readonly asksOwner?: boolean
}

/**
 * Builds the URI that takes the user agent back to the client (RFC 6749 4.1.2 and 4.2.2). The URI repeats `state`
 * unchanged, and `iss` names this server (RFC 9207).
 */
export function authorizationResponse(
  { redirectUri, responseType, requestState, issuer }: ResponseFrame,
  parameters: Readonly<Record<string, string>>,
): string {
  const state = requestState === undefined ? {} : { state: requestState }
  const members = Object.assign({}, parameters, state, { iss: issuer })
  return responseType?.mode === 'fragment'
    ? `${redirectUri}#${new URLSearchParams(members).toString()}`
    : appendToQuery(redirectUri, members)
}

/** Builds the redirection of a success. With an error, the parameters are those of the error. */
export function redirection(
  frame: ResponseFrame,
  parameters: Readonly<Record<string, string>>,
  error?: OAuthError,
): Redirection {
  return {
    kind: 'redirect',
    location: authorizationResponse(frame, parameters),
    redirectBy: frame.responseType?.redirectBy ?? 'location',
    error,
    clientId: frame.clientId,
  }
}

/** Builds the redirection of an error (RFC 6749 4.1.2.1 and 4.2.2.1). */
export function redirectWithError(frame: ResponseFrame, error: OAuthError): Redirection {
  return redirection(frame, errorMembers(error, frame.errorUri), error)
}
