import type { Authorization, Proposed } from '../authorization/authorization'
import type { Circumstances } from '../authorization/circumstances'
import { tokenResponse } from '../token-types/token-response'
import { redirectWith, type Redirection, type ResponseFrame } from './authorization-response'
import type { Approval, ResponseType, ResponseTypes } from './response-type'

/** What an answer to the client takes from the endpoint. */
export interface AnsweringEndpoint {
  readonly issuer: string
  /** The page that explains error codes, if there is one. */
  readonly errorUri: string | undefined
  readonly responseTypes: ResponseTypes
}

/** What an approval comes to: the record from now on, and the answer to the client (RFC 6749 4.1.2). */
export function approved(
  endpoint: AnsweringEndpoint,
  responseType: ResponseType,
  proposed: Proposed,
  circumstances: Circumstances,
): { readonly authorization: Authorization; readonly redirection: Redirection } {
  const approval = responseType.approve(proposed, circumstances)
  const parameters = answerOf(responseType, approval, circumstances.now)
  return {
    authorization: approval.authorization,
    redirection: redirectWith(frameOf(endpoint, proposed), proposed.clientId, parameters),
  }
}

function answerOf(
  { name, mode }: ResponseType,
  { parameters, issued }: Approval,
  now: number,
): Readonly<Record<string, string>> {
  if (issued === undefined) return parameters
  // RFC 6749 4.2.2: a query is sent to servers, kept in their logs and handed on; a token must not be in one.
  if (mode !== 'fragment') throw new Error(`The response type "${name}" puts an access token into a query.`)
  // RFC 6749 4.2.2: never a refresh token, whatever a response type may have issued.
  const members = tokenResponse({ ...issued, refreshToken: undefined }, now)
  return {
    ...parameters,
    ...Object.fromEntries(Object.entries(members).map(([key, value]) => [key, `${value}`])),
  }
}

/** The frame of an answer to a request that is on record. */
export function frameOf(
  { issuer, errorUri, responseTypes }: AnsweringEndpoint,
  { request }: Proposed,
): ResponseFrame {
  const { redirectUri, requestState } = request
  const responseType = responseTypes.get(request.responseType)
  return { redirectUri, requestState, issuer, errorUri, responseType }
}
