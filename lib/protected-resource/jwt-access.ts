import type { JwtFault } from '../jwt/refused-jwt'
import type { ProvenJwt } from '../jwt/verify-jwt'
import { isText, isTexts } from '../protocol/configuration'
import { parseScope, type Scope } from '../protocol/scope'
import { frozen } from './frozen'
import type { JwtAccess } from './guarded-access'

/** Where an issuer writes what has no registered claim, or has one that it does not use. */
export interface JwtDialect {
  /** The claims that may name the client; the first that is there counts. */
  readonly clientId: readonly string[]
  readonly scope: string
  /** Whether a list of texts is a scope, too. */
  readonly listsScope: boolean
}

// RFC 9068 2.2 and 2.2.3
export const rfc9068: JwtDialect = { clientId: ['client_id'], scope: 'scope', listsScope: false }

/** Why a proven JWT gives no access, as a stable word for events. */
export type AccessFault = Extract<JwtFault, 'incomplete'> | 'bound_to_key' | 'of_another_kind'

/** The access that a proven JWT gives, or why it gives none. */
export function jwtAccess(
  { subject, expiresAt, claims }: ProvenJwt,
  dialect: JwtDialect,
): JwtAccess | AccessFault {
  // RFC 7800 3: its issuer bound the token to a key, so whoever shows no proof of that key may have stolen it.
  if (Object.hasOwn(claims, 'cnf')) return 'bound_to_key'
  // OpenID Connect Core 3.1.3.6 and 3.3.2.11: an ID token, which says who is there and opens nothing.
  if (['at_hash', 'c_hash'].some((name) => Object.hasOwn(claims, name))) return 'of_another_kind'
  const clientId = dialect.clientId.map((name) => claimOf(claims, name)).find((value) => value !== undefined)
  const scope = scopeOf(claimOf(claims, dialect.scope), dialect.listsScope)
  if (!isText(clientId) || scope === undefined) return 'incomplete'
  // RFC 9700 4.15: nobody takes a client for an owner of the same name.
  const owner = subject === clientId ? undefined : subject
  return frozen({ clientId, subject: owner, scope, tokenType: 'bearer' as const, expiresAt, claims })
}

const claimOf = (claims: ProvenJwt['claims'], name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

function scopeOf(value: unknown, listsScope: boolean): Scope | undefined {
  if (value === undefined || value === '') return []
  if (typeof value === 'string') return parseScope(value)
  const isList = listsScope && isTexts(value) && value.every((token) => parseScope(token)?.length === 1)
  return isList ? [...new Set(value)] : undefined
}
