import type { FoundAccess } from '../../../authorization/lookup'
import { isRecord, isText, OptionsReader } from '../../../primitives/options-reader'
import { isSubject, subjectExpectation } from '../../../protocol/resource-owner'
import { parseScope, type Scope } from '../../../protocol/scope'
import { bearer } from '../../../extensions/token-types/bearer'
import type { TokenRequest } from '../../grant-type'
import { actorsIn, historyIn, tokenExchangeName } from './exchange-history'

/** The token type identifier of an access token of this server (RFC 8693 3). */
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/**
 * A subject token or an actor token that is valid now. It belongs to a resource owner, or to a client that acts for
 * itself.
 */
export type SecurityToken = SecurityTokenContent &
  (
    | {
        /** The resource owner. */
        readonly subject: string
        /**
         * The client that the token was issued to. Undefined if unknown; always known for an access token of this
         * server.
         */
        readonly clientId: string | undefined
      }
    | {
        /** Undefined: the client acts for itself. */
        readonly subject: undefined
        readonly clientId: string
      }
  )

interface SecurityTokenContent {
  /** The token type identifier (RFC 8693 3). */
  readonly tokenType: string
  /** The scope of the token; empty if the token names none. */
  readonly scope: Scope
  /** The targets that an earlier exchange gave the token; empty if there are none. */
  readonly audience: readonly string[]
  /** The parties that act for the subject by earlier exchanges, the latest first. */
  readonly actors: readonly string[]
  /** The end of the token, in seconds since the epoch. No new token of the exchange lives longer. */
  readonly expiresAt: number
  /** The claims that {@link VerifySecurityToken} returned; empty for an access token of this server. */
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * The content of a token that another party issued, in terms of this server: `sub` is a subject of the host, and
 * `scope` holds scopes of this server.
 */
export interface SecurityTokenClaims extends Readonly<Record<string, unknown>> {
  /** The resource owner: a text of 1 to 1024 characters. */
  readonly sub: string
  /** The end of the token, in seconds since the epoch. The server refuses an expired token. */
  readonly exp: number
  /** Space separated. Without this member, only the policy can grant a scope. */
  readonly scope?: string
  /** The client that the token was issued to. */
  readonly client_id?: string
  /** The parties that act for the subject (RFC 8693 4.1), at most eight. */
  readonly act?: unknown
}

/**
 * Verifies the signature, the issuer and the audience of a token that another party issued. Returns the claims of the
 * token, or undefined if the token is not valid. For any other result, the client gets `server_error`.
 */
export type VerifySecurityToken = (
  token: string,
  request: TokenRequest,
) => SecurityTokenClaims | undefined | Promise<SecurityTokenClaims | undefined>

/** The functions of the host that verify tokens, by token type identifier. */
export type SecurityTokenTypes = ReadonlyMap<string, VerifySecurityToken>

/** A token that a request presents, of a type that this server can verify. */
export interface PresentedSecurityToken {
  readonly token: string
  readonly tokenType: string
}

/** A presented token that is valid. */
interface ProvenSecurityToken {
  readonly content: SecurityToken
  /** The access of an access token of this server; undefined for a token that another party issued. */
  readonly access: FoundAccess | undefined
}

/** Verifies a presented token. Returns undefined if the token is not valid. */
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
  // A token such as `mac` proves nothing without its key. If the server exchanged it, an eavesdropper could get a
  // bearer token for it.
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

/**
 * Checks the claims that a function of the host returned.
 *
 * @throws ConfigurationError if the claims are not {@link SecurityTokenClaims}.
 */
function readClaims(claims: unknown, tokenType: string): SecurityToken {
  const reading = new OptionsReader(claims, `tokenTypes[${tokenType}]()`)
  const subject = reading.required('sub', '', isSubject, subjectExpectation)
  const exp = reading.required('exp', 0, isTime, 'must be seconds since the epoch.')
  const scope = reading.optional('scope', '', isScope, 'must be scope tokens with one space between two.')
  const clientId = reading.optional<string | undefined>('client_id', undefined, isText, 'must be a text.')
  const actors = actorsIn(reading.take('act'))
  if (actors === undefined) reading.wrong('act', 'must hold a sub, and at most eight actors in all.')
  reading.throwIssues('A function of tokenExchange() returned claims that cannot be read:')
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
