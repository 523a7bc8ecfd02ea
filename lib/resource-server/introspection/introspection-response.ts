import { isRecord, isText, isTexts } from '../../primitives/values'
import { readConfirmation } from '../../protocol/confirmation'
import type { Extension } from '../../protocol/extension'
import { loginIn } from '../../protocol/resource-owner'
import { parseScope } from '../../protocol/scope'
import { fitsType, type TokenType } from '../../protocol/token-type'
import { type FoundToken, frozen, type GoodToken, type IntrospectedAccess } from '../admit'
import { otherAudience } from '../refusals'

export interface IntrospectionTerms {
  readonly issuer: string
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
  /** One of these in `aud`. Empty: tokens must name no audience. */
  readonly audience: readonly string[]
  /** Seconds. */
  readonly clockTolerance: number
  /** Seconds in the cache. */
  readonly maximumAge: number
}

type IntrospectionFault =
  | 'introspection_of_another_issuer'
  | 'introspection_bound_to_key'
  | 'introspection_of_another_type'
  | 'introspection_expired'
  | 'introspection_not_yet_valid'
  | 'introspection_incomplete'

interface IntrospectedToken extends GoodToken {
  readonly access: IntrospectedAccess
}

/** RFC 7662 2.2. Undefined for a token that is not active. */
export function introspectedToken(
  answer: unknown,
  terms: IntrospectionTerms,
  now: number,
): IntrospectedToken | IntrospectionFault | FoundToken {
  if (!isRecord(answer)) throw new TypeError('The answer is no JSON object.')
  // Some servers write null for nothing.
  const member = (name: string): unknown =>
    Object.hasOwn(answer, name) ? (answer[name] ?? undefined) : undefined
  const active = member('active')
  // RFC 7662 2.2: REQUIRED, and a Boolean. A text such as "true" says nothing.
  if (typeof active !== 'boolean')
    throw new TypeError('The answer has no member active that is true or false.')
  if (!active) return undefined
  const [issuer, expiresAt, notBefore, subject, clientId] = ['iss', 'exp', 'nbf', 'sub', 'client_id'].map(
    member,
  )
  if (issuer !== undefined && issuer !== terms.issuer) return 'introspection_of_another_issuer'
  if (!isAbsentOrTime(expiresAt) || !isAbsentOrTime(notBefore)) return 'introspection_incomplete'
  if (expiresAt !== undefined && expiresAt + terms.clockTolerance <= now) return 'introspection_expired'
  // RFC 7519 4.1.5
  if (notBefore !== undefined && notBefore > now + terms.clockTolerance) return 'introspection_not_yet_valid'
  if (!isFor(member('aud'), terms.audience))
    return {
      rejectReason: 'introspection_of_another_audience',
      observed: otherAudience(member('aud'), terms.audience),
    }
  const confirmation = readConfirmation(terms, member('cnf'))
  // RFC 7800 3: a request without proof of the key may come from a thief.
  if (confirmation === undefined) return 'introspection_bound_to_key'
  const { tokenType, ...kept } = confirmation
  if (!isOfType(member('token_type'), tokenType) || !isAccessToken(member('token_use'), member('typ')))
    return 'introspection_of_another_type'
  const scope = scopeOf(member('scope'))
  if (!isText(clientId) || !isAbsentOrText(subject) || scope === undefined) return 'introspection_incomplete'
  // RFC 9700 4.15: a client that acts for itself must not pass for a resource owner with its name.
  const owner = subject === clientId ? undefined : subject
  const login = owner === undefined ? undefined : loginIn(answer)
  const access = frozen({
    clientId,
    subject: owner,
    scope,
    tokenType,
    expiresAt: expiresAt ?? now + terms.maximumAge,
    claims: answer,
    ...(login && { login }),
  })
  return { access, ...kept, extensionData: {} }
}

const isAbsentOrTime = (value: unknown): value is number | undefined =>
  value === undefined || (typeof value === 'number' && Number.isFinite(value))
const isAbsentOrText = (value: unknown): value is string | undefined => value === undefined || isText(value)
// RFC 9449 6.2: a token bound to a key must not call itself Bearer. Some servers name the format in its
// place.
const isOfType = (named: unknown, type: string) =>
  fitsType(named, type) || (type === 'bearer' && fitsType(named, 'at+jwt'))

// Some servers also answer about tokens that live longer or give no access: this package and ORY Hydra by
// `token_use`, Keycloak by `typ`.
const isAccessToken = (use: unknown, type: unknown) =>
  (use === undefined || use === 'access_token') && !['Refresh', 'Offline', 'ID'].some((name) => name === type)

// A guard that knows its audience demands one: the server may have left it out for another resource server.
function isFor(aud: unknown, audience: readonly string[]): boolean {
  const named = aud === undefined ? [] : isText(aud) ? [aud] : aud
  if (!isTexts(named)) return false
  return named.length === 0 ? audience.length === 0 : named.some((one) => audience.includes(one))
}

const scopeOf = (scope: unknown) => {
  if (scope === undefined || scope === '') return []
  return isText(scope) ? parseScope(scope) : undefined
}
