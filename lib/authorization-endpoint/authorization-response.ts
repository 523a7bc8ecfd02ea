import { errorMembers, type OAuthError } from '../protocol/oauth-error'
import { appendToQuery } from '../protocol/redirect-uri'
import type { ResponseType } from './response-type'

/** What each answer to one authorization request shares. */
export interface ResponseFrame {
  readonly redirectUri: string
  readonly mode: ResponseType['mode']
  /** `state` as received; undefined when the request had none. */
  readonly requestState: string | undefined
  readonly issuer: string
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
}

/**
 * The URI that takes the resource owner back to the client with an answer (RFC 6749 4.1.2 and 4.2.2). `state` is
 * echoed as it came, and `iss` names this server (RFC 9207).
 */
export function authorizationResponse(
  frame: ResponseFrame,
  parameters: Readonly<Record<string, string>>,
): string {
  const { redirectUri, mode, requestState, issuer } = frame
  const answer = {
    ...parameters,
    ...(requestState === undefined ? {} : { state: requestState }),
    iss: issuer,
  }
  return mode === 'query'
    ? appendToQuery(redirectUri, answer)
    : `${redirectUri}#${new URLSearchParams(answer).toString()}`
}

/** The same for an error (RFC 6749 4.1.2.1 and 4.2.2.1). */
export function errorResponse(frame: ResponseFrame, error: OAuthError): string {
  return authorizationResponse(frame, errorMembers(error, frame.errorUri))
}
