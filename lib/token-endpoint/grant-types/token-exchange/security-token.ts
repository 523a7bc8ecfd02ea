import { isRecord, isText, OptionsReader } from '../../../protocol/configuration'
import { isSubject, subjectCure } from '../../../protocol/resource-owner'
import { parseScope, type Scope } from '../../../protocol/scope'
import { bearer } from '../../../token-types/bearer'
import type { TokenRequest } from '../../grant-type'
import { accessTokenType, tokenExchangeName } from './exchange-parameters'
import { actorsIn, historyIn } from './policy'

/** A subject token or an actor token that is good right now: of a resource owner, or of a client that acts for itself. */
export type SecurityToken = SecurityTokenContent &
  (
    | {
        /** The resource owner. */
        readonly subject: string
        /** To which client it was issued, where that is known: always for an access token of this server. */
        readonly clientId: string | undefined
      }
    | { readonly subject: undefined; readonly clientId: string }
  )

interface SecurityTokenContent {
  /** The token type identifier (RFC 8693 3). */
  readonly tokenType: string
  /** Empty when the token names none. */
  readonly scope: Scope
  /** What an earlier exchange bound it to; empty when nothing. */
  readonly audience: readonly string[]
  /** Who acts for the subject by earlier exchanges, the last one first. */
  readonly actors: readonly string[]
  /** Seconds since the epoch: no token that it is exchanged for lives longer. */
  readonly expiresAt: number
  /** What the host's function read from a token of another type; empty for an access token of this server. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** What a token of another type says, in the words of this server: its subject is a subject of yours. */
export interface SecurityTokenClaims extends Readonly<Record<string, unknown>> {
  readonly sub: string
  /** Seconds since the epoch. */
  readonly exp: number
  /** Space separated. Left out: a scope comes from the policy only. */
  readonly scope?: string
  readonly client_id?: string
  /** Who acts for the subject (RFC 8693 4.1), eight deep at most. */
  readonly act?: unknown
}

/**
 * Verifies a token of another type: signature, issuer, audience. Returns what it says, or undefined for a token that
 * is not good.
 */
export type VerifySecurityToken = (
  token: string,
  request: TokenRequest,
) => SecurityTokenClaims | undefined | Promise<SecurityTokenClaims | undefined>

/** The token types that the host verifies. */
export type SecurityTokenTypes = ReadonlyMap<string, VerifySecurityToken>

/** A token as it was presented, of a type that can be read. */
export interface PresentedSecurityToken {
  readonly token: string
  readonly tokenType: string
}

/** What the token stands for now; undefined when it is not good. */
export async function presentSecurityToken(
  { token, tokenType }: PresentedSecurityToken,
  request: TokenRequest,
  tokenTypes: SecurityTokenTypes,
): Promise<SecurityToken | undefined> {
  if (tokenType === accessTokenType) return ownAccessToken(token, request)
  const claims: unknown = await tokenTypes.get(tokenType)?.(token, request)
  if (claims === undefined) return undefined
  const read = readClaims(claims, tokenType)
  return read.expiresAt <= request.context.now ? undefined : read
}

async function ownAccessToken(
  token: string,
  { findAccess }: TokenRequest,
): Promise<SecurityToken | undefined> {
  const found = await findAccess(token)
  // A token of another type proves nothing by itself: exchanged, what an eavesdropper saw would become a bearer token.
  if (found?.access.tokenType !== bearer.name) return undefined
  const { access, extensionData } = found
  const { subject, clientId, scope, expiresAt } = access
  const data = Object.hasOwn(extensionData, tokenExchangeName) ? extensionData[tokenExchangeName] : undefined
  return { tokenType: accessTokenType, subject, clientId, scope, expiresAt, ...historyIn(data), claims: {} }
}

/** @throws ConfigurationError when the host's function returned something else than it promises. */
function readClaims(claims: unknown, tokenType: string): SecurityToken {
  const reading = new OptionsReader(claims, `tokenTypes[${tokenType}]()`)
  const subject = reading.required('sub', '', isSubject, subjectCure)
  const exp = reading.required('exp', 0, isTime, 'must be seconds since the epoch.')
  const scope = reading.optional('scope', '', isScope, 'must be scope tokens with one space between two.')
  const clientId = reading.optional<string | undefined>('client_id', undefined, isText, 'must be a text.')
  const actors = actorsIn(reading.take('act'))
  if (actors === undefined) reading.wrong('act', 'must hold a sub, and at most eight actors in all.')
  reading.settle('A function of tokenExchange() returned claims that cannot be read:')
  return {
    tokenType,
    subject,
    clientId,
    scope: parseScope(scope) ?? [],
    audience: [],
    actors: actors ?? [],
    // RFC 7519 2: a NumericDate may have a fraction.
    expiresAt: Math.floor(exp),
    claims: isRecord(claims) ? claims : {},
  }
}

const isTime = (value: unknown): value is number => Number.isFinite(value)
const isScope = (value: unknown): value is string =>
  typeof value === 'string' && parseScope(value) !== undefined
