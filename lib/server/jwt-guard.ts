import { aNumber, aTextThat, oneOf, someSeconds } from '../primitives/fields'
import { type Fields, needed, optional, placeOf, usual } from '../primitives/schema'
import { loadJose, requireJose } from '../jwt/jose'
import { givenKeys, keysAt, keySet, type KeySource } from '../jwt/key-source'
import { anAudience, verifiedAlgorithms } from '../jwt/verify-jwt'
import { findJwt, type JwtDialect, rfc9068 } from '../resource-server/find-jwt'
import {
  guardOfIssuer,
  type IssuerGuard,
  issuerGuardFields,
  ownResource,
  readIssuerGuard,
} from './issuer-guard'
import { type ProvingGuardOptions, guardLimits, requireKnown } from './remote-guard'

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
  const at = placeOf(options)
  const { keys: given, jwksUri, type, clientIdClaim, scopeClaim, resource, ...read } = at.read(fields)
  at.requireOne('keys', 'jwksUri')
  const guard = readIssuerGuard(at, read)
  requireKnown(at, 'createJwtBearerGuard()', fields)
  requireJose('createJwtBearerGuard()')

  const keys = given ?? jwksUri ?? givenKeys([])
  const claimNames = {
    ...dialects[type],
    scope: scopeClaim,
    ...(clientIdClaim !== undefined && { clientId: [clientIdClaim] }),
  }
  return guardOfIssuer({
    own: ownResource(resource, read.audience),
    alone: read,
    guard,
    findToken: findJwt({ ...read, ...guard, keys, types: types[type], claimNames }),
    answers: (now) => keysOf(keys, now),
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

const dialects: Readonly<Record<Kind, JwtDialect>> = {
  'at+jwt': rfc9068,
  JWT: { ...rfc9068, clientId: [...rfc9068.clientId, 'azp'], listsScope: true },
}

const aClaim = aTextThat('must be the name of a claim.')

const fields = {
  ...issuerGuardFields,
  issuer: needed('', aTextThat('must be the iss of the tokens.')),
  audience: needed([], anAudience('must be the value in aud of the tokens that names this resource server.')),
  keys: optional(keySet),
  jwksUri: optional(keysAt),
  algorithms: verifiedAlgorithms,
  type: usual('at+jwt', oneOf('at+jwt', 'JWT')),
  clientIdClaim: optional(aClaim),
  scopeClaim: usual(rfc9068.scope, aClaim),
  clockTolerance: someSeconds(5, 0, 300),
  maximumCached: aNumber(10_000, 0, 1_000_000),
  maximumAge: someSeconds(300, 1, 86_400),
  limits: guardLimits,
} satisfies Partial<Fields<JwtBearerGuardOptions>>
