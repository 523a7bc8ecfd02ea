import type { PendingRequest, RequestedAuthorization } from '../authorization/authorization'
import { complete } from '../authorization/complete-issue'
import type { Approval, RedirectMethod, ResponseType } from '../authorization/response-types'
import { restrictToken } from '../authorization/restrict'
import { approvalEvent, type IssueContext } from '../authorization/transition'
import { issueContext, type Context } from '../doors/context'
import { tokenResponse } from '../extensions/token-types/bearer'
import type { Client } from '../protocol/client'
import { noEvidence } from '../protocol/extension-data'
import type { Json } from '../protocol/json'
import { errorMembers, type OAuthError } from '../protocol/oauth-error'
import { formOf, Parameters } from '../protocol/parameters'
import { appendToQuery } from '../protocol/redirect-uri'
import { canonicalResponseType, modeIn, type NamedMode } from '../protocol/response-types'

type ResponseFrame = ReturnType<typeof frameOf>

export function frameOf(
  { settings, plugins }: Context,
  clientId: string,
  { redirectUri, responseType, requestState }: Omit<PendingRequest, 'redirectUriSent'>,
  mode: NamedMode | undefined,
) {
  // An error of an unknown type goes into the query.
  const known = plugins.responseTypes.get(canonicalResponseType(responseType))
  return { clientId, redirectUri, responseType: known, mode, requestState, settings }
}

type Fields = Readonly<Record<string, string>>

export interface Redirection {
  readonly kind: 'redirect'
  readonly location: string
  /** Undefined for `GET`. */
  readonly fields?: Fields | undefined
  readonly redirectBy: RedirectMethod
  readonly error: OAuthError | undefined
  readonly clientId: string
  /** Whether the owner decides on a page to go there. Default: at once. */
  readonly asksOwner?: boolean
}

/** RFC 6749 4.1.2 and 4.2.2, with `state` unchanged, and `iss` (RFC 9207). */
function redirection(frame: ResponseFrame, parameters: Fields, error?: OAuthError): Redirection {
  const { clientId, redirectUri, responseType, mode, requestState, settings } = frame
  const members: Record<string, string> = { ...parameters }
  if (requestState !== undefined) members['state'] = requestState
  members['iss'] = settings.issuer
  const carrier = mode?.carrier ?? responseType?.mode
  return {
    kind: 'redirect',
    location: carrier === 'form' ? redirectUri : locationOf(redirectUri, members, carrier === 'fragment'),
    fields: carrier === 'form' ? members : undefined,
    redirectBy: responseType?.redirectBy ?? 'location',
    error,
    clientId,
  }
}

const locationOf = (redirectUri: string, members: Fields, inFragment: boolean): string =>
  inFragment ? `${redirectUri}#${formOf(members)}` : appendToQuery(redirectUri, members)

/** RFC 6749 4.1.2.1 and 4.2.2.1. */
export const redirectWithError = (frame: ResponseFrame, error: OAuthError): Redirection =>
  redirection(frame, errorMembers(error, frame.settings.errorUri), error)

/** The parameters of the request are gone when the owner decides. */
export function contextOf(server: Context, client: Client, ownerReadAt: number): IssueContext {
  const request = { client, parameters: Parameters.none, grantType: 'implicit' }
  const restrict: IssueContext['restrict'] = (granted) =>
    restrictToken(server.plugins.restrictors, request, granted)
  return issueContext(server, client, restrict, noEvidence, ownerReadAt)
}

export function frameOfRecord(
  server: Context,
  { clientId, request, extensionData }: RequestedAuthorization,
): ResponseFrame {
  return frameOf(server, clientId, request, modeIn(extensionData, server.plugins.responseModes))
}

export type ApprovedRequest = ReturnType<typeof approveRequest>

/** RFC 6749 4.1.2. */
export function approveRequest(
  server: Context,
  responseType: ResponseType,
  requested: RequestedAuthorization,
  context: IssueContext,
) {
  const approval = responseType.approve(requested, context)
  const { authorization } = approval
  const frame = frameOfRecord(server, requested)
  const parameters = parametersOf(responseType, approval, context.now)
  return {
    authorization,
    redirection: redirection(frame, parameters),
    responseType,
    requested,
    approval,
    event: approvalEvent(authorization, responseType.name),
  }
}

export async function completeApproval(
  server: Context,
  client: Client,
  approved: ApprovedRequest,
  now: number,
): Promise<ApprovedRequest> {
  const { authorization, responseType, requested, approval, event } = approved
  const { issued } = approval
  if (issued === undefined) return approved
  const recipient = { client, grantType: 'implicit', evidence: noEvidence }
  const completed = await complete(server, { authorization, issued, event }, recipient)
  const frame = frameOfRecord(server, requested)
  const parameters = parametersOf(responseType, { ...approval, issued: completed.issued }, now)
  return { ...approved, redirection: redirection(frame, parameters), event: completed.event }
}

function parametersOf(
  { name, mode }: ResponseType,
  { parameters, issued }: Approval,
  now: number,
): Readonly<Record<string, string>> {
  if (issued === undefined) return parameters
  // RFC 6749 4.2.2: browsers send a query to servers, which log it. It must never contain a token.
  if (mode !== 'fragment')
    throw new Error(
      `The response type "${name}" puts an access token into a query: its mode must be fragment.`,
    )
  // RFC 6749 4.2.2: no refresh token, even if the response type has issued one.
  const members = tokenResponse({ ...issued, refreshToken: undefined }, now)
  return { ...parameters, ...Object.fromEntries(Object.entries(members).map(asParameter)) }
}

function asParameter([key, value]: readonly [string, Json]): readonly [string, string] {
  if (typeof value === 'string' || typeof value === 'number') return [key, `${value}`]
  throw new TypeError(
    `An extension returned the member "${key}" for a response of the authorization endpoint, which carries texts and numbers only.`,
  )
}
