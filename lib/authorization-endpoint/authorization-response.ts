import type { PendingRequest } from '../authorization/authorization'
import { errorMembers, type OAuthError } from '../protocol/oauth-error'
import { formOf } from '../protocol/parameters'
import { appendToQuery } from '../protocol/redirect-uri'
import type { Context } from '../doors/context'
import type { NamedMode } from '../protocol/response-types'
import type { RedirectMethod, ResponseType } from '../authorization/response-types'

export interface ResponseFrame {
  readonly clientId: string
  readonly redirectUri: string
  /** Undefined if the server does not know it: an error then goes into the query. */
  readonly responseType: Pick<ResponseType, 'mode' | 'redirectBy'> | undefined
  /** Default: the mode of the response type. */
  readonly mode?: NamedMode | undefined
  readonly requestState: string | undefined
  readonly issuer: string
  readonly errorUri: string | undefined
}

export function frameOf(
  { settings: { issuer, errorUri }, plugIns }: Context,
  clientId: string,
  { redirectUri, responseType, requestState }: Omit<PendingRequest, 'redirectUriSent'>,
  mode: NamedMode | undefined,
): ResponseFrame {
  return {
    clientId,
    redirectUri,
    responseType: plugIns.responseTypes.get(responseType),
    mode,
    requestState,
    issuer,
    errorUri,
  }
}

type Fields = Readonly<Record<string, string>>

export interface Redirection {
  readonly kind: 'redirect'
  readonly location: string
  /** The form that the user agent posts; undefined for `GET`. */
  readonly fields?: Fields | undefined
  readonly redirectBy: RedirectMethod
  readonly error: OAuthError | undefined
  readonly clientId: string
  /** Whether the owner decides on a page to go there. Default: at once. */
  readonly asksOwner?: boolean
}

/** RFC 6749 4.1.2 and 4.2.2, with `state` unchanged, and `iss` (RFC 9207). */
function authorizationResponse(frame: ResponseFrame, parameters: Fields): string {
  const members = responseMembers(frame, parameters)
  return (frame.mode?.carrier ?? frame.responseType?.mode) === 'fragment'
    ? `${frame.redirectUri}#${formOf(members)}`
    : appendToQuery(frame.redirectUri, members)
}

function responseMembers({ requestState, issuer }: ResponseFrame, parameters: Fields): Fields {
  const members: Record<string, string> = { ...parameters }
  if (requestState !== undefined) members['state'] = requestState
  members['iss'] = issuer
  return members
}

/** With an error, the parameters are those of the error. */
export function redirection(frame: ResponseFrame, parameters: Fields, error?: OAuthError): Redirection {
  const { mode, redirectUri, clientId } = frame
  const isForm = mode?.carrier === 'form'
  return {
    kind: 'redirect',
    location: isForm ? redirectUri : authorizationResponse(frame, parameters),
    fields: isForm ? responseMembers(frame, parameters) : undefined,
    redirectBy: frame.responseType?.redirectBy ?? 'location',
    error,
    clientId,
  }
}

/** RFC 6749 4.1.2.1 and 4.2.2.1. */
export const redirectWithError = (frame: ResponseFrame, error: OAuthError): Redirection =>
  redirection(frame, errorMembers(error, frame.errorUri), error)
