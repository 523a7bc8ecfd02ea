import type { TokenRequest } from '../../../authorization/grant-type'
import type { FoundAccess } from '../../../authorization/lookup'
import { bearer } from '../../../extensions/token-types/bearer'
import { aText } from '../../../primitives/fields'
import { kind, optional, requireShape, shape } from '../../../primitives/schema'
import { isRecord, isText, isTexts } from '../../../primitives/values'
import { dataOf } from '../../../protocol/extension-data'
import type { Json } from '../../../protocol/json'
import { isSubject, subjectExpectation } from '../../../protocol/resource-owner'
import { parseScope, type Scope } from '../../../protocol/scope'

/** RFC 8693 3. Works only at its own grant. */
export const refreshTokenType = 'urn:ietf:params:oauth:token-type:refresh_token'

/** RFC 8693 3: an access token of this server. */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/** Valid now. Of a resource owner, or of a client that acts for itself. */
export type SecurityToken = SecurityTokenContent &
  (
    | {
        readonly subject: string
        /** The client that got it; undefined if unknown, never for an access token of this server. */
        readonly clientId: string | undefined
      }
    | {
        readonly subject: undefined
        readonly clientId: string
      }
  )

interface SecurityTokenContent {
  /** RFC 8693 3. */
  readonly tokenType: string
  /** May be empty. */
  readonly scope: Scope
  /** Given by an earlier exchange; may be empty. */
  readonly audience: readonly string[]
  /** Parties that act for the subject, the latest first. */
  readonly actors: readonly string[]
  /** Seconds since the epoch. No new token lives longer. */
  readonly expiresAt: number
  /** From {@link VerifySecurityToken}; empty for an access token of this server. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** In terms of this server: `sub` is a subject of the host, `scope` has scopes of this server. */
export interface SecurityTokenClaims extends Readonly<Record<string, unknown>> {
  /** The resource owner: a text of 1 to 1024 characters. */
  readonly sub: string
  /** Seconds since the epoch. The server refuses an expired token. */
  readonly exp: number
  /** Space separated. Without it, only the policy can grant a scope. */
  readonly scope?: string
  /** To whom the token was issued. */
  readonly client_id?: string
  /** The parties that act for the subject (RFC 8693 4.1), at most eight. */
  readonly act?: unknown
}

/**
 * Verifies signature, issuer and audience of the token of another party. Returns its claims, or undefined for
 * an invalid one. Any other result gives `server_error`.
 */
export type VerifySecurityToken = (
  token: string,
  request: TokenRequest,
) => SecurityTokenClaims | undefined | Promise<SecurityTokenClaims | undefined>

export type SecurityTokenTypes = ReadonlyMap<string, VerifySecurityToken>

interface ProvenSecurityToken {
  readonly content: SecurityToken
  readonly access: FoundAccess | undefined
}

export async function proveSecurityToken(
  { token, tokenType }: { readonly token: string; readonly tokenType: string },
  request: TokenRequest,
  tokenTypes: SecurityTokenTypes,
): Promise<ProvenSecurityToken | undefined> {
  if (tokenType === accessTokenType) return ownAccessToken(token, request)
  const claims: unknown = await tokenTypes.get(tokenType)?.(token, request)
  if (claims === undefined) return undefined
  const read = readClaims(claims, tokenType)
  return read.expiresAt <= request.context.now ? undefined : { content: read, access: undefined }
}

async function ownAccessToken(
  token: string,
  { findAccess }: TokenRequest,
): Promise<ProvenSecurityToken | undefined> {
  const found = await findAccess(token)
  // A token such as `mac` proves nothing without its key: a thief could exchange it for a bearer token.
  if (found?.access.tokenType !== bearer.name) return undefined
  const { access, extensionData } = found
  const { subject, clientId, scope, expiresAt } = access
  const history = historyIn(dataOf(tokenExchangeName, extensionData))
  const content = { tokenType: accessTokenType, subject, clientId, scope, expiresAt, ...history, claims: {} }
  return { content, access: found }
}

const claimsShape = shape<SecurityTokenClaims>({
  sub: kind(isSubject, subjectExpectation),
  exp: kind(Number.isFinite, 'must be seconds since the epoch.'),
  scope: optional(
    kind(
      (value) => value === '' || (isText(value) && parseScope(value) !== undefined),
      'must be scope tokens with one space between two.',
    ),
  ),
  client_id: optional(aText),
  act: kind((value) => actorsIn(value) !== undefined, 'must hold a sub, and at most eight actors in all.'),
})

function readClaims(given: unknown, tokenType: string): SecurityToken {
  const subject = `The function tokenTypes[${tokenType}] of tokenExchange() returned claims that cannot be read:`
  const claims = requireShape(claimsShape, given, subject, undefined)
  return {
    tokenType,
    subject: claims.sub,
    clientId: claims.client_id,
    scope: parseScope(claims.scope ?? '') ?? [],
    audience: [],
    actors: actorsIn(claims.act) ?? [],
    expiresAt: Math.floor(claims.exp),
    claims,
  }
}

/** RFC 8693 2.1. Also the name of the history. */
export const tokenExchangeName = 'urn:ietf:params:oauth:grant-type:token-exchange'

interface ExchangeHistory {
  /** The latest first (RFC 8693 4.1). */
  readonly actors: readonly string[]
  readonly audience: readonly string[]
}

export const historyData = ({ actors, audience }: ExchangeHistory): Readonly<Record<string, Json>> =>
  actors.length + audience.length === 0 ? {} : { [tokenExchangeName]: { actors, audience } }

/** Else each exchange could enlarge the record. */
export const actorsAtMost = 8

function historyIn(data: Json | undefined): ExchangeHistory {
  const fields = isRecord(data) ? data : {}
  return { actors: textsIn(fields['actors']), audience: textsIn(fields['audience']) }
}

/** `act` (RFC 8693 4.1) and `aud` (RFC 7662 2.2). */
export function introspectedHistory(data: Json): Readonly<Record<string, Json>> {
  const { actors, audience } = historyIn(data)
  const act = actors.reduceRight<Json | undefined>(
    (earlier, sub) => (earlier === undefined ? { sub } : { sub, act: earlier }),
    undefined,
  )
  return { ...(act === undefined ? {} : { act }), ...(audience.length === 0 ? {} : { aud: audience }) }
}

/** Undefined if `act` is malformed or too long. */
function actorsIn(act: unknown): readonly string[] | undefined {
  const actors: unknown[] = []
  for (let next = act; next !== undefined; next = isRecord(next) ? next['act'] : undefined) {
    if (actors.length === actorsAtMost) return undefined
    actors.push(isRecord(next) ? next['sub'] : undefined)
  }
  return isTexts(actors) ? actors : undefined
}

const textsIn = (value: unknown): readonly string[] => (isTexts(value) ? value : [])
