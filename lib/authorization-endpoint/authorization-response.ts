import { errorMembers, type OAuthError } from '../protocol/oauth-error'
import { appendToQuery } from '../protocol/redirect-uri'
import type { RedirectMethod, ResponseType } from './response-types'

/** The values that all responses to one authorization request share. */
export interface ResponseFrame {
  readonly redirectUri: string
  /** The response type of the request. Undefined if the server does not know it: an error then goes into the query. */
  readonly responseType: Pick<ResponseType, 'mode' | 'redirectBy'> | undefined
  /** The parameter `state` as the client sent it; undefined if the request had none. */
  readonly requestState: string | undefined
  readonly issuer: string
  /** The URL of the page that explains error codes; undefined if the host has none. */
  readonly errorUri: string | undefined
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
  frame: ResponseFrame,
  parameters: Readonly<Record<string, string>>,
): string {
  const { redirectUri, responseType, requestState, issuer } = frame
  const state = requestState === undefined ? {} : { state: requestState }
  const answer = Object.assign({}, parameters, state, { iss: issuer })
  return responseType?.mode === 'fragment'
    ? `${redirectUri}#${new URLSearchParams(answer).toString()}`
    : appendToQuery(redirectUri, answer)
}

/** Builds the redirection of a success. */
export function redirectWith(
  frame: ResponseFrame,
  clientId: string,
  parameters: Readonly<Record<string, string>>,
): Redirection {
  return redirection(frame, clientId, parameters, undefined)
}

/** Builds the redirection of an error (RFC 6749 4.1.2.1 and 4.2.2.1). */
export function redirectWithError(frame: ResponseFrame, clientId: string, error: OAuthError): Redirection {
  return redirection(frame, clientId, errorMembers(error, frame.errorUri), error)
}

function redirection(
  frame: ResponseFrame,
  clientId: string,
  parameters: Readonly<Record<string, string>>,
  error: OAuthError | undefined,
): Redirection {
  const location = authorizationResponse(frame, parameters)
  return {
    kind: 'redirect',
    location,
    redirectBy: frame.responseType?.redirectBy ?? 'location',
    error,
    clientId,
  }
}
