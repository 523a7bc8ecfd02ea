import { readAlgorithms } from './jwt/algorithms'
import { readAudience } from './jwt/audience'
import { readKeys } from './jwt/read-keys'
import type { JwtAccessTerms } from './protected-resource/find-jwt'
import { rfc9068, type JwtDialect } from './protected-resource/jwt-access'
import { isText, type OptionsReader } from './protocol/configuration'

type Kind = 'at+jwt' | 'JWT'

// RFC 9068 2.1, and RFC 7515 4.1.9: the prefix may be left out.
const types: Readonly<Record<Kind, readonly string[]>> = {
  'at+jwt': ['at+jwt', 'application/at+jwt'],
  JWT: ['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt'],
}

/** Reads what the tokens of a guard for JWTs are held to; what it returns after a mistake is a placeholder. */
export function readJwtGuard(reading: OptionsReader): JwtAccessTerms {
  const type = reading.optional<Kind>('type', 'at+jwt', isKind, "must be 'at+jwt' or 'JWT'.")
  const whole = (key: string, fallback: number, unit: string, least: number, most: number) =>
    reading.optional(key, fallback, isWithin(least, most), `must be ${unit}, ${least} to ${most}.`)
  return {
    issuer: reading.required('issuer', '', isText, 'must be the iss of the tokens.'),
    audience: readAudience(reading, 'must be what aud of the tokens names for this resource server.'),
    keys: readKeys(reading, { given: 'keys', published: 'jwksUri' }),
    algorithms: readAlgorithms(reading),
    types: types[type],
    dialect: dialectOf(reading, type),
    clockTolerance: whole('clockTolerance', 5, 'whole seconds', 0, 300),
    maximumCached: whole('maximumCached', 10_000, 'a whole number', 0, 1_000_000),
    maximumAge: whole('maximumAge', 300, 'whole seconds', 1, 86_400),
  }
}

function dialectOf(reading: OptionsReader, type: Kind): JwtDialect {
  const older = type === 'JWT'
  const cure = 'must be the name of a claim.'
  const clientId = reading.optional<string | undefined>('clientIdClaim', undefined, isText, cure)
  const usual = older ? [...rfc9068.clientId, 'azp'] : rfc9068.clientId
  return {
    clientId: clientId === undefined ? usual : [clientId],
    scope: reading.optional('scopeClaim', rfc9068.scope, isText, cure),
    listsScope: older,
  }
}

const isKind = (value: unknown): value is Kind => value === 'at+jwt' || value === 'JWT'
const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
