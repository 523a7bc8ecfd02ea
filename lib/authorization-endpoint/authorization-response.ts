import type { PendingRequest } from '../authorization/authorization'
import { errorMembers } from '../protocol/error-response'
import type { OAuthError } from '../protocol/oauth-error'
import { appendToQuery } from '../protocol/redirect-uri'
import type { ServerContext } from '../server/context'
import type { NamedMode } from './response-modes'
import type { RedirectMethod, ResponseType } from './response-types'

/** The values that all responses to one authorization request share. */
export interface ResponseFrame {
  readonly clientId: string
  readonly redirectUri: string
  /** The response type of the request. Undefined if the server does not know it: an error then goes into the query. */
  readonly responseType: Pick<ResponseType, 'mode' | 'redirectBy'> | undefined
  /** The mode that the request names. Default: the mode of the response type. */
  readonly mode?: NamedMode | undefined
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
  mode: NamedMode | undefined,
): ResponseFrame {
  return {
    clientId,
    redirectUri,
    responseType: responseTypes.get(responseType),
    mode,
    requestState,
    issuer,
    errorUri,
  }
}

/** Parameters of a response, as a form has them. */
type Fields = Readonly<Record<string, string>>

/** Sends the user agent back to the client, with a success or an error. */
export interface Redirection {
  readonly kind: 'redirect'
  /** The URI to which the user agent goes. It has the response, unless a form has it. */
  readonly location: string
  /** The fields of the form that the user agent posts there; undefined if it goes there by `GET`. */
  readonly fields?: Fields | undefined
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
function authorizationResponse(frame: ResponseFrame, parameters: Fields): string {
  const members = responseMembers(frame, parameters)
  return (frame.mode?.carrier ?? frame.responseType?.mode) === 'fragment'
    ? `${frame.redirectUri}#${new URLSearchParams(members).toString()}`
    : appendToQuery(frame.redirectUri, members)
}

function responseMembers({ requestState, issuer }: ResponseFrame, parameters: Fields): Fields {
  const state = requestState === undefined ? {} : { state: requestState }
  return Object.assign({}, parameters, state, { iss: issuer })
}

/** Builds the redirection of a success. With an error, the parameters are those of the error. */
export function redirection(frame: ResponseFrame, parameters: Fields, error?: OAuthError): Redirection {
  const { mode, redirectUri, clientId } = frame
  const redirectBy = frame.responseType?.redirectBy ?? 'location'
  const to = { kind: 'redirect', redirectBy, error, clientId } as const
  return mode?.carrier === 'form'
    ? { ...to, location: redirectUri, fields: responseMembers(frame, parameters) }
    : { ...to, location: authorizationResponse(frame, parameters) }
}

/** Builds the redirection of an error (RFC 6749 4.1.2.1 and 4.2.2.1). */
export function redirectWithError(frame: ResponseFrame, error: OAuthError): Redirection {
  return redirection(frame, errorMembers(error, frame.errorUri), error)
}
