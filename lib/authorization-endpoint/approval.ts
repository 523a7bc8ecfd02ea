import type { Authorization, RequestedAuthorization } from '../authorization/authorization'
import type { IssueContext } from '../authorization/circumstances'
import { isRecord } from '../protocol/configuration'
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
export function approve(
  endpoint: AnsweringEndpoint,
  responseType: ResponseType,
  proposed: RequestedAuthorization,
  context: IssueContext,
): { readonly authorization: Authorization; readonly redirection: Redirection } {
  const approval = responseType.approve(proposed, context)
  requireApproval(approval, responseType.name, proposed)
  const parameters = answerOf(responseType, approval, context.now)
  return {
    authorization: approval.authorization,
    redirection: redirectWith(frameOf(endpoint, proposed), proposed.clientId, parameters),
  }
}

// A response type is often a host's: what it returns is saved in the request's place and sent to the client.
function requireApproval(
  approval: unknown,
  name: string,
  { id, clientId, subject }: RequestedAuthorization,
): void {
  const { authorization, parameters } = isRecord(approval) ? approval : {}
  const isAnswer =
    isRecord(parameters) && Object.values(parameters).every((value) => typeof value === 'string')
  const isSameOne =
    isRecord(authorization) &&
    authorization['id'] === id &&
    authorization['clientId'] === clientId &&
    authorization['subject'] === subject
  if (isAnswer && isSameOne) return
  throw new TypeError(
    `The response type "${name}" must return { authorization, parameters }: the authorization that it was given, approved, and an object of texts.`,
  )
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
  { request }: RequestedAuthorization,
): ResponseFrame {
  const { redirectUri, requestState } = request
  const responseType = responseTypes.get(request.responseType)
  return { redirectUri, requestState, issuer, errorUri, responseType }
}
