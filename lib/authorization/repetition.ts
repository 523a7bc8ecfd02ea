import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../primitives/values'
import { opaqueFormat } from '../protocol/access-token-format'
import {
  createCredential,
  createRefreshToken,
  createSalt,
  derivedText,
  digest,
  hasDigest,
  type Random,
  sealText,
  unsealText,
} from '../protocol/credential'
import { refused } from '../protocol/refusals'
import { formatScope } from '../protocol/scope'
import type { TokenProperties } from '../protocol/token-type'
import { type AccessToken, findToken, newestDigest, newestToken } from './access-token'
import type { Active, Approved, Authorization, LastResponse, Requested } from './authorization'
import { addAccessToken, issue, type Issuance, type Issued, type RefreshTokenWithText, saved } from './issue'
import { refreshTokenEnd } from './lifetimes'
import {
  type IssueContext,
  issueEvent,
  type NewAccessToken,
  nothingToKeep,
  type TransitionResult,
  unchanged,
} from './transition'

// The same request gets the same answer again. It derives from the presented credential and the salt in the record:
// neither suffices alone.

/** @param asked a request for anything else never gets the same letters. */
const secretsOf = (credential: string, salt: string, asked = ''): Random =>
  derivedText(credential, `answer ${salt} ${asked}`)

/** @param selected what the form selects, such as ticked boxes. */
export const repeatable = (
  context: IssueContext,
  consentToken: string,
  salt: string,
  selected: string,
): IssueContext => ({ ...context, codeSecrets: secretsOf(consentToken, salt, selected) })

export function withForm(
  authorization: Authorization,
  { consentToken }: Requested,
  salt: string,
): Authorization {
  if (authorization.state === 'active') return { ...authorization, consentToken }
  if (authorization.state !== 'approved') return authorization
  return { ...authorization, consentToken, code: { ...authorization.code, salt } }
}

/** False after another selection, and if a host's response type makes its own code. */
export const isSameCode = (made: Authorization, { code }: Approved): boolean =>
  made.state === 'approved' && made.code.digest === code.digest

/** @param credential what goes out of use: a refresh token, or the handle of a poll. */
export function issueRepeatable(
  current: Active,
  credential: string,
  token: NewAccessToken,
  refreshToken: boolean,
  context: IssueContext,
): Issuance {
  const { now, random, lifetimes } = context
  if (lifetimes.refreshTokenGrace === 0) return issue(current, token, refreshToken, context)
  const salt = createSalt(random)
  return issue(current, token, refreshToken, context, secretsOf(credential, salt), ({ properties }) => ({
    at: now,
    salt,
    sealedProperties: sealed(properties, credential, random),
  }))
}

type Texts = Pick<Issued, 'accessToken' | 'refreshToken' | 'refreshTokenExpiresAt'>

interface Repeatable extends Omit<LastResponse, 'at'> {
  readonly credential: string
  readonly texts: Texts
}

/** Undefined also if the last response went to another credential. */
export function lastResponseTo(
  { id, lastResponse, refreshToken: current }: Active,
  credential: string,
  { now, lifetimes }: IssueContext,
): Repeatable | undefined {
  // Clocks differ both ways: a response may seem to lie in the future. Further ahead than the grace, there is none.
  if (lastResponse === undefined || Math.abs(now - lastResponse.at) >= lifetimes.refreshTokenGrace)
    return undefined
  const { salt, sealedProperties } = lastResponse
  const secrets = secretsOf(credential, salt)
  const accessToken = createCredential('accessToken', id, secrets)
  const last = { credential, salt, sealedProperties }
  if (current === undefined) return { ...last, texts: { accessToken, refreshToken: undefined } }
  const refreshToken = createRefreshToken(id, current.generation, current.tagKey, secrets)
  if (!hasDigest(refreshToken, current.digest)) return undefined
  return { ...last, texts: { accessToken, refreshToken, refreshTokenExpiresAt: current.expiresAt } }
}

/**
 * Another request gets an access token beside the last response, the same one each time; so does the same request after
 * its token has ended.
 */
export function repeat(
  current: Active,
  { credential, texts, salt, sealedProperties }: Repeatable,
  token: NewAccessToken,
  context: IssueContext,
): TransitionResult<Issued> {
  const first = findToken(current, digest(texts.accessToken))
  if (first !== undefined && isSame(first, token, current) && isGood(first, context))
    return again(current, first, texts, unsealed(sealedProperties, credential))
  for (let turn = 0; ; turn++) {
    const accessToken = derivedToken(current, token, credential, `beside ${salt} ${turn}`)
    const stored = findToken(current, digest(accessToken))
    if (stored === undefined) return addBeside(current, first, { ...texts, accessToken }, token, context)
    if (isDerivable(stored, current, context)) return again(current, stored, { ...texts, accessToken })
  }
}

function addBeside(
  current: Active,
  first: AccessToken | undefined,
  texts: Texts,
  token: NewAccessToken,
  context: IssueContext,
): TransitionResult<Issued> {
  // Settled by the last response, such as the key that binds the refresh token.
  const keepingNothing = { ...token, authorizationData: nothingToKeep }
  const { authorization, issued } = addAccessToken(current, keepingNothing, context, texts.accessToken)
  const added = newestToken(authorization)
  const keyOf = (one: AccessToken | undefined) => one && context.confirmationOf?.(one, authorization)
  if (first !== undefined && !isDeepStrictEqual(keyOf(first), keyOf(added)))
    return unchanged(refused('repetition_key_wrong'))
  return saved('refreshed', { authorization, issued: { ...issued, ...texts } }, 'repeated')
}

function again(
  { tokenType: usual }: Active,
  stored: AccessToken,
  { accessToken, refreshToken, refreshTokenExpiresAt }: Texts,
  properties: TokenProperties = {},
): TransitionResult<Issued> {
  const { expiresAt, scope, tokenType = usual } = stored
  const issued = { accessToken, tokenType, properties, expiresAt, scope }
  const outcome = { ...issued, refreshToken, refreshTokenExpiresAt }
  return { action: 'touch', outcome, event: issueEvent('refreshed', scope, stored.digest, 'repeated') }
}

/**
 * RFC 6749 6: the same refresh token begins its lifetime anew, and the response repeats it for clients that would
 * forget it. A refresh that loses a race gets the access token of the winner, so clients with many processes do not
 * fill the record.
 *
 * @param superseded the record that the request has read before.
 */
export function keepRefreshToken(
  current: Active,
  { text, stored }: RefreshTokenWithText,
  token: NewAccessToken,
  context: IssueContext,
  superseded: Authorization | undefined,
): TransitionResult<Issued> {
  // The newest token that a request has read makes each one different.
  const nextOf = (read: Active) =>
    derivedToken(read, token, text, `kept ${stored.tagKey} ${newestDigest(read)}`)
  if (superseded?.state === 'active') {
    const accessToken = nextOf(superseded)
    const won = findToken(current, digest(accessToken))
    const { extensionData } = current
    const isSettled = isDeepStrictEqual({ ...extensionData, ...token.authorizationData }, extensionData)
    if (won !== undefined && isSettled && isDerivable(won, current, context))
      return again(current, won, { accessToken, refreshToken: text, refreshTokenExpiresAt: stored.expiresAt })
  }
  const { authorization, issued } = addAccessToken(current, token, context, nextOf(current))
  const expiresAt = refreshTokenEnd(current.grantedAt, context)
  return saved('refreshed', {
    authorization: { ...authorization, refreshToken: { ...stored, expiresAt } },
    issued: { ...issued, refreshToken: text, refreshTokenExpiresAt: expiresAt },
  })
}

const derivedToken = (current: Active, token: NewAccessToken, credential: string, salt: string): string =>
  createCredential('accessToken', current.id, secretsOf(credential, salt, termsOf(token, current)))

type Terms = Pick<NewAccessToken, 'scope' | 'extensionData' | 'tokenType' | 'format'>

const termsOf = ({ scope, extensionData, tokenType, format }: Terms, { tokenType: usual }: Active): string =>
  JSON.stringify([formatScope(scope.toSorted()), extensionData, tokenType ?? usual, format])

function isSame(first: AccessToken, token: NewAccessToken, current: Active): boolean {
  // Without a choice of an extension, the format of the first response stays.
  const format = token.format && (first.formatted?.format ?? opaqueFormat)
  return termsOf({ ...first, format }, current) === termsOf(token, current)
}

/** False if a deployment has lost the format. */
const isGood = ({ expiresAt, formatted }: AccessToken, { now, formats }: IssueContext): boolean =>
  expiresAt > now && (formatted === undefined || formats?.has(formatted.format) === true)

/** What a token type adds cannot be derived. */
const isDerivable = (stored: AccessToken, current: Active, context: IssueContext): boolean =>
  isGood(stored, context) &&
  context.tokenTypes.get(stored.tokenType ?? current.tokenType)?.issue === undefined

const purpose = 'members of a token response'

function sealed(properties: TokenProperties, credential: string, random: Random): string | undefined {
  if (Object.keys(properties).length === 0) return undefined
  return sealText(JSON.stringify(properties), { credential, purpose }, random)
}

function unsealed(text: string | undefined, credential: string): TokenProperties {
  if (text === undefined) return {}
  const opened = unsealText(text, { credential, purpose })
  const properties: unknown = opened === undefined ? undefined : JSON.parse(opened)
  if (isProperties(properties)) return properties
  throw new Error('The members that a token type added to the last token response were altered in the store.')
}

const isProperties = (value: unknown): value is TokenProperties =>
  isRecord(value) && Object.values(value).every((member) => ['string', 'number'].includes(typeof member))
