import { kind, needed, optional } from '../primitives/schema'
import { loadJose, requireJose } from '../jwt/jose'
import { givenKeys, keysAt, keySet, type KeySource } from '../jwt/key-source'
import { anAudience, verifiedAlgorithms } from '../jwt/verify-jwt'
import { OptionsReader } from '../primitives/options-reader'
import { isText, isWhole } from '../primitives/values'
import { findJwt, type JwtAccessTerms, type JwtDialect, rfc9068 } from '../resource-server/find-jwt'
import { guardOfIssuer, type IssuerGuard, readIssuerGuard, readOwnResource } from './issuer-guard'
import { type ProvingGuardOptions, guardLimits } from './remote-guard'

/** Options of {@link createJwtBearerGuard}. */
export interface JwtBearerGuardOptions extends ProvingGuardOptions {
  /** The `iss` of the tokens, letter by letter. */
  readonly issuer: string
  /** The audience of this resource server, letter by letter. `aud` of a token must contain one of these. */
  readonly audience: string | readonly string[]
  /**
   * The URI of this resource server (RFC 9728): https, or http on a loopback host. Challenges then name the
   * URL of its metadata, by {@link JwtBearerGuard.protectedResource}. Default: `audience`, if it is one such
   * URI.
   */
  readonly resource?: string
  /** The public keys of the issuer, as a JWK set (RFC 7517 5). Either `keys` or `jwksUri`. */
  readonly keys?: { readonly keys: readonly object[] }
  /**
   * The URL of the JWK set of the issuer: https, or http on a loopback host. Fetched at first use, after 10
   * minutes, and for an unknown key, but never twice within 10 seconds; without redirects, at most 256 KiB
   * within 5 seconds.
   */
  readonly jwksUri?: string
  /**
   * Signature algorithms (RFC 7518 3.1, RFC 8037 3.1). Default: all asymmetric ones; no others are supported.
   */
  readonly algorithms?: readonly string[]
  /**
   * `typ` of the tokens. Default `at+jwt` (RFC 9068 2.1). `JWT` also accepts tokens of older issuers: `typ`
   * is `JWT` or missing, `client_id` or `azp` names the client, and the scope may be a list.
   */
  readonly type?: 'at+jwt' | 'JWT'
  /** The claim that names the client. Default `client_id`; with the type `JWT`, also `azp`. */
  readonly clientIdClaim?: string
  /** The claim with the scope. Default `scope`. */
  readonly scopeClaim?: string
  /** Whole seconds by which clocks may differ. Default 5, at most 300. */
  readonly clockTolerance?: number
  /**
   * The most verified tokens in the cache; evicts the least recently used. Default 10 000, at most 1 000 000;
   * 0 for no cache.
   */
  readonly maximumCached?: number
  /** Whole seconds until a token is verified again, 1 to 86 400, within its lifetime. Default 300. */
  readonly maximumAge?: number
}

export type JwtBearerGuard = IssuerGuard

/**
 * Creates bearer guards for the JWT access tokens (RFC 9068) of one trusted issuer, without a store. A
 * verified token costs a digest and a look-up in memory. The guard learns of no revocation: a token stays
 * valid until it expires. Needs the package jose.
 *
 * @throws ConfigurationError that lists every mistake in the options, or if jose is not installed.
 */
export function createJwtBearerGuard(options: JwtBearerGuardOptions): JwtBearerGuard {
  const reading = new OptionsReader(options, '')
  const terms = readJwtGuard(reading)
  const own = readOwnResource(reading, terms.audience)
  const guard = readIssuerGuard(reading, terms.issuer)
  const singleUseLimit = reading.field('limits', guardLimits).singleUses
  reading.refuseUnknown()
  reading.refuseUndefined()
  reading.throwIssues('createJwtBearerGuard() cannot work with these options:')
  requireJose('createJwtBearerGuard()')

  return guardOfIssuer({
    issuer: terms.issuer,
    own,
    guard,
    singleUseLimit,
    findToken: findJwt({ ...terms, tokenTypes: guard.tokenTypes, extensions: guard.extensions }),
    answers: (now) => keysOf(terms.keys, now),
  })
}

async function keysOf(keys: KeySource, now: number): Promise<void> {
  await Promise.all([loadJose(), keys.trusted(now) ?? keys.fetched(now)])
}

type Kind = 'at+jwt' | 'JWT'

// RFC 9068 2.1. RFC 7515 4.1.9: the prefix `application/` is optional.
const types: Readonly<Record<Kind, readonly string[]>> = {
  'at+jwt': ['at+jwt', 'application/at+jwt'],
  JWT: ['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt'],
}

/** Returns placeholders after a mistake. */
function readJwtGuard(reading: OptionsReader): Omit<JwtAccessTerms, 'tokenTypes' | 'extensions'> {
  const type = reading.optional<Kind>('type', 'at+jwt', isKind, "must be 'at+jwt' or 'JWT'.")
  const whole = (key: string, fallback: number, unit: string, least: number, most: number) =>
    reading.optional(key, fallback, isWhole(least, most), `must be ${unit}, ${least} to ${most}.`)
  return {
    issuer: reading.required('issuer', '', isText, 'must be the iss of the tokens.'),
    audience: reading.field(
      'audience',
      needed([], anAudience('must be the value in aud of the tokens that names this resource server.')),
    ),
    keys: keysOfGuard(reading),
    algorithms: reading.field('algorithms', verifiedAlgorithms),
    types: types[type],
    claimNames: claimNamesOf(reading, type),
    clockTolerance: whole('clockTolerance', 5, 'whole seconds', 0, 300),
    maximumCached: whole('maximumCached', 10_000, 'a whole number', 0, 1_000_000),
    maximumAge: whole('maximumAge', 300, 'whole seconds', 1, 86_400),
  }
}

function keysOfGuard(reading: OptionsReader): KeySource {
  const [keys, jwksUri] = [
    reading.field('keys', optional(keySet)),
    reading.field('jwksUri', optional(keysAt)),
  ]
  if ((keys === undefined) === (jwksUri === undefined))
    reading.wrong('keys', 'or jwksUri must be given, and not both.')
  return keys ?? jwksUri ?? givenKeys([])
}

function claimNamesOf(reading: OptionsReader, type: Kind): JwtDialect {
  const older = type === 'JWT'
  const cure = 'must be the name of a claim.'
  const clientId = reading.field('clientIdClaim', optional(kind(isText, cure)))
  const usual = older ? [...rfc9068.clientId, 'azp'] : rfc9068.clientId
  return {
    clientId: clientId === undefined ? usual : [clientId],
    scope: reading.optional('scopeClaim', rfc9068.scope, isText, cure),
    listsScope: older,
  }
}

const isKind = (value: unknown): value is Kind => value === 'at+jwt' || value === 'JWT'
