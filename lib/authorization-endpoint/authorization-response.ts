import { errorMembers, type OAuthError } from '../protocol/oauth-error'
import { appendToQuery } from '../protocol/redirect-uri'
import type { RedirectMethod, ResponseType } from './response-types'

/** What each answer to one authorization request shares. */
export interface ResponseFrame {
  readonly redirectUri: string
  /** The one that was asked for; undefined when it is not known here, and then its error goes into the query. */
  readonly responseType: Pick<ResponseType, 'mode' | 'redirectBy'> | undefined
  /** `state` as received; undefined when the request had none. */
  readonly requestState: string | undefined
  readonly issuer: string
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
}

/** The user agent goes back to the client with an answer, good or bad. */
export interface Redirection {
  readonly kind: 'redirect'
  readonly location: string
  readonly redirectBy: RedirectMethod
  readonly error: OAuthError | undefined
  readonly clientId: string
}

/**
 * The URI that takes the resource owner back to the client with an answer (RFC 6749 4.1.2 and 4.2.2). `state` is
 * echoed as it came, and `iss` names this server (RFC 9207).
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

/** Sends a good answer to the client. */
export function redirectWith(
  frame: ResponseFrame,
  clientId: string,
  parameters: Readonly<Record<string, string>>,
): Redirection {
  return redirection(frame, clientId, parameters, undefined)
}

/** Tells the client of an error (RFC 6749 4.1.2.1 and 4.2.2.1). */
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
