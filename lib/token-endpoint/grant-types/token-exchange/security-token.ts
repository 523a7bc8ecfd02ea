import { refused } from '../../../protocol/refusals'
import type { Parameters } from '../../../protocol/parameters'
import { malformedScope, parseScope, type Scope } from '../../../protocol/scope'
import { requireResourceUris } from '../../../extensions/resource-indicators/resource-indicators'
import { aText } from '../../../primitives/fields'
import { kind, optional, requireShape, shape } from '../../../primitives/schema'
import type { FoundAccess } from '../../../authorization/lookup'
import { isText } from '../../../primitives/values'
import { isSubject, subjectExpectation } from '../../../protocol/resource-owner'
import { bearer } from '../../../extensions/token-types/bearer'
import type { TokenRequest } from '../../../authorization/grant-type'
import { actorsIn, historyIn, tokenExchangeName } from './exchange-history'

/** RFC 8693 3. A refresh token works only at its own grant. */
export const refreshTokenType = 'urn:ietf:params:oauth:token-type:refresh_token'

interface ExchangeParameters {
  readonly subjectToken: PresentedSecurityToken
  readonly actorToken: PresentedSecurityToken | undefined
  readonly scope: Scope | undefined
  readonly resource: readonly string[]
  readonly audience: readonly string[]
}

export function exchangeParameters(
  parameters: Parameters,
  tokenTypes: SecurityTokenTypes,
): ExchangeParameters {
  const requested = parameters.get('requested_token_type')
  if (requested !== undefined && requested !== accessTokenType)
    throw refused('requested_token_type_unsupported')
  const subjectToken = {
    token: parameters.require('subject_token'),
    tokenType: readable(parameters.require('subject_token_type'), tokenTypes),
  }
  return {
    subjectToken,
    actorToken: actorToken(parameters, tokenTypes),
    scope: requestedScope(parameters.get('scope')),
    ...targets(parameters.all('resource'), parameters.all('audience')),
  }
}

function actorToken(
  parameters: Parameters,
  tokenTypes: SecurityTokenTypes,
): PresentedSecurityToken | undefined {
  const token = parameters.get('actor_token')
  if (token !== undefined)
    return { token, tokenType: readable(parameters.require('actor_token_type'), tokenTypes) }
  // RFC 8693 2.1: no type without a token.
  if (parameters.get('actor_token_type') !== undefined) throw refused('actor_token_missing')
  return undefined
}

function readable(tokenType: string, tokenTypes: SecurityTokenTypes): string {
  if (tokenType !== accessTokenType && !tokenTypes.has(tokenType))
    throw refused('security_token_type_unsupported')
  return tokenType
}

function requestedScope(text: string | undefined): Scope | undefined {
  if (text === undefined) return undefined
  const scope = parseScope(text)
  if (scope === undefined) throw malformedScope(text)
  return scope
}

// Characters, all targets together: a policy may store them with the token.
const targetsAtMost = 4096

function targets(
  resource: readonly string[],
  audience: readonly string[],
): Pick<ExchangeParameters, 'resource' | 'audience'> {
  if ([...resource, ...audience].join('').length > targetsAtMost) throw refused('targets_too_large')
  // RFC 8693 2.1, RFC 8707 2
  requireResourceUris(resource)
  return { resource, audience }
}

/** RFC 8693 3: an access token of this server. */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/** Valid now. It belongs to a resource owner, or to a client that acts for itself. */
export type SecurityToken = SecurityTokenContent &
  (
    | {
        readonly subject: string
        /** The client that it was issued to; undefined if unknown, never for an access token of this server. */
        readonly clientId: string | undefined
      }
    | {
        /** The client acts for itself. */
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
  /** Parties that act for the subject by earlier exchanges, the latest first. */
  readonly actors: readonly string[]
  /** Seconds since the epoch. No new token of the exchange lives longer. */
  readonly expiresAt: number
  /** From {@link VerifySecurityToken}; empty for an access token of this server. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** In terms of this server: `sub` is a subject of the host, and `scope` holds scopes of this server. */
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
 * Verifies signature, issuer and audience of another party's token. Returns its claims, or undefined for an
 * invalid one. Any other result gives `server_error`.
 */
export type VerifySecurityToken = (
  token: string,
  request: TokenRequest,
) => SecurityTokenClaims | undefined | Promise<SecurityTokenClaims | undefined>

export type SecurityTokenTypes = ReadonlyMap<string, VerifySecurityToken>

interface PresentedSecurityToken {
  readonly token: string
  readonly tokenType: string
}

interface ProvenSecurityToken {
  readonly content: SecurityToken
  /** Undefined for a token of another party. */
  readonly access: FoundAccess | undefined
}

export async function presentSecurityToken(
  { token, tokenType }: PresentedSecurityToken,
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
  // A token such as `mac` proves nothing without its key: an eavesdropper could exchange it for a bearer token.
  if (found?.access.tokenType !== bearer.name) return undefined
  const { access, extensionData } = found
  const { subject, clientId, scope, expiresAt } = access
  const data = Object.hasOwn(extensionData, tokenExchangeName) ? extensionData[tokenExchangeName] : undefined
  return {
    content: {
      tokenType: accessTokenType,
      subject,
      clientId,
      scope,
      expiresAt,
      ...historyIn(data),
      claims: {},
    },
    access: found,
  }
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
