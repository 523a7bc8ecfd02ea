import { exactShape, kind, optional, requireShape } from '../primitives/schema'
import { type AccessTokenFormat, encodeToken } from '../protocol/access-token-format'
import type { Client, PublishedSubject } from '../protocol/client'
import { type Confirming, withConfirmation } from '../protocol/confirmation'
import { digest } from '../protocol/credential'
import { type Evidence, type KeptExtensionData, ownDataOf } from '../protocol/extension-data'
import { type ActingExtensions, type At, described } from '../protocol/acting-extensions'
import type { TokenResponseAddition } from '../protocol/extension'
import { isToken } from '../protocol/http-authentication'
import { isJson, type Json } from '../protocol/json'
import { responseMembers } from '../protocol/token-type'
import { isRecord } from '../primitives/values'
import { type AccessToken, findToken } from './access-token'
import type { Authorization, Granted } from './authorization'
import type { Issued } from './issue'
import { type CompleteResult, revoked, type TransitionEvent } from './transition'

export interface Recipient {
  readonly client: Client
  /** `implicit` at the authorization endpoint. */
  readonly grantType: string
  readonly evidence: Evidence
}

interface DecidedToken {
  readonly authorization: Authorization | undefined
  readonly issued: Issued
  readonly event: TransitionEvent | undefined
}

type CompletedToken = Omit<DecidedToken, 'authorization'>

interface Issuing {
  readonly settings: Confirming & { readonly issuer: string }
  readonly plugins: Pick<ActingExtensions, 'respond' | 'describe'> & {
    readonly formats: ReadonlyMap<string, AccessTokenFormat>
    readonly publishedSubject: PublishedSubject | undefined
  }
}

export const completes = ({ plugins }: Issuing): boolean =>
  plugins.formats.size > 0 || plugins.respond.length > 0

/** Runs before the write of a token. @throws OAuthError if the format or an extension refuses. */
export async function complete(
  server: Issuing,
  decided: DecidedToken,
  recipient: Recipient,
): Promise<CompletedToken> {
  const completed = await completedBy(server, decided, recipient, false)
  if (completed === 'end') throw endsTooEarly()
  return completed
}

const endsTooEarly = () =>
  new TypeError("An extension answered 'end' for a token response that is no refresh, or a repetition.")

async function completedBy(
  server: Issuing,
  { authorization, issued, event }: DecidedToken,
  recipient: Recipient,
  isRepetition: boolean,
): Promise<CompletedToken | 'end'> {
  const held = heldToken(authorization, issued)
  const accessToken = await textOf(server, held, issued, recipient)
  const shown = { ...issued, accessToken }
  const { respond } = server.plugins
  const answered =
    respond.length === 0 ? shown : await withAdditions(respond, shown, held, recipient, isRepetition)
  if (answered === 'end') return answered
  // Listeners find the same fingerprint in the events of requests with the token.
  return { issued: answered, event: event && { ...event, digest: digest(accessToken) } }
}

export function completing(server: Issuing, recipient: Recipient): CompleteResult<Issued> | undefined {
  if (!completes(server)) return undefined
  return async (result, current) => {
    const authorization = result.action === 'save' ? result.authorization : current
    const decided = { authorization, issued: result.outcome, event: result.event }
    const isRepetition = result.action !== 'save'
    const completed = await completedBy(server, decided, recipient, isRepetition)
    if (completed !== 'end') return { ...result, outcome: completed.issued, event: completed.event }
    if (isRepetition || recipient.grantType !== 'refresh_token') throw endsTooEarly()
    // The grant of another server has no record yet.
    return revoked(current ?? result.authorization, 'no_longer_allowed')
  }
}

interface HeldToken {
  readonly authorization: Granted
  readonly token: AccessToken
}

// A plug-in of the host may have made the response in its own way.
function heldToken(authorization: Authorization | undefined, { accessToken }: Issued): HeldToken {
  if (authorization !== undefined && 'accessTokens' in authorization) {
    const token = findToken(authorization, digest(accessToken))
    if (token !== undefined) return { authorization, token }
  }
  throw new Error('A plug-in answers with an access token that its record does not hold.')
}

async function textOf(
  { settings, plugins: { formats, describe, publishedSubject } }: Issuing,
  { authorization, token }: HeldToken,
  { accessToken, tokenType }: Issued,
  { client, grantType }: Recipient,
): Promise<string> {
  const { formatted } = token
  if (formatted === undefined) return accessToken
  const format = formats.get(formatted.format)
  if (format === undefined)
    throw new Error(`The server does not have the access token format "${formatted.format}".`)
  const { id: authorizationId, subject, clientId, login } = authorization
  const { digest: tokenId, scope, expiresAt, tokenData } = token
  const published =
    subject === undefined || publishedSubject === undefined ? subject : publishedSubject(subject, client)
  const { issuer } = settings
  const named = { issuer, authorizationId, tokenId, subject: published, clientId, scope, tokenType, login }
  const data = { tokenData, ...dataFor(authorization, token) }
  const members = withConfirmation(described(describe, data, 'token'), settings, { tokenType, ...data })
  const claims = { ...named, issuedAt: formatted.issuedAt, expiresAt, ...data, members }
  return encodeToken(format, claims, { client, grantType, subject })
}

const dataFor = ({ extensionData }: Authorization, token: AccessToken): KeptExtensionData => ({
  extensionData,
  tokenExtensionData: token.extensionData,
})

async function withAdditions(
  extensions: readonly At<'respond'>[],
  issued: Issued,
  { authorization, token }: HeldToken,
  { client, grantType, evidence }: Recipient,
  isRepetition: boolean,
): Promise<Issued | 'end'> {
  const { id: authorizationId, subject, login, scope: grantedScope, grantedAt } = authorization
  const { accessToken, tokenType, scope, expiresAt } = issued
  const granted = { authorizationId, subject, login, grantedScope, grantedAt }
  const shared = { client, grantType, accessToken, tokenType, ...granted, scope, expiresAt, isRepetition }
  const data = dataFor(authorization, token)
  const members: Record<string, Json> = {}
  const headers: Record<string, string> = {}
  for (const extension of extensions) {
    const { name } = extension
    const own = ownDataOf(name, data)
    const given: unknown = await extension.respond({ ...shared, ...own, evidence: evidence.get(name) })
    if (given === 'end') return given
    if (given === undefined) continue
    const mistake = `The extension "${name}" returned a wrong result for a token response:`
    const addition = requireShape(additionShape, given, mistake, [issued.properties, members])
    Object.assign(members, addition.members)
    Object.assign(headers, addition.headers)
  }
  return { ...issued, members, headers }
}

// A client must never take a member of an extension for one of the server.
const additionShape = exactShape<TokenResponseAddition, readonly object[]>({
  members: optional(
    kind(
      (value, present) => isRecord(value) && isJson(value) && !Object.keys(value).some(isTakenBy(present)),
      'must be an object of JSON, without members that the response already has.',
    ),
  ),
  headers: optional(
    kind(
      (value) => isRecord(value) && Object.entries(value).every(isHeader),
      'must be an object of names and texts of printable ASCII, without those that the server sets, such as Cache-Control.',
    ),
  ),
})

const isTakenBy = (present: readonly object[]) => (name: string) =>
  responseMembers.has(name) || present.some((members) => Object.hasOwn(members, name))

// RFC 6749 5.1: no cache may keep a response with a token.
const ownHeaders: ReadonlySet<string> = new Set([
  'cache-control',
  'pragma',
  'content-type',
  'content-length',
  'transfer-encoding',
])
const isHeader = ([name, value]: [string, unknown]) =>
  isToken(name) &&
  !ownHeaders.has(name.toLowerCase()) &&
  typeof value === 'string' &&
  /^[\x20-\x7E]*$/.test(value)
