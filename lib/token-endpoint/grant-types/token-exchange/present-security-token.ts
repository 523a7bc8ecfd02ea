import { isRecord, isText, OptionsReader } from '../../../protocol/configuration'
import { isSubject, subjectCure } from '../../../protocol/resource-owner'
import { parseScope } from '../../../protocol/scope'
import { bearer } from '../../../token-types/bearer'
import type { TokenRequest } from '../../grant-type'
import { actorsIn, historyIn } from './exchange-history'
import { accessTokenType, tokenExchangeName } from './identifiers'
import type { PresentedSecurityToken, SecurityToken, SecurityTokenTypes } from './security-token'

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
