import { isText, isTexts, Reading } from '../../../protocol/configuration'
import type { GrantType } from '../../grant-type'
import { assertionGrant } from '../assertion/assertion-grant'
import { readAssertionTerms, type AssertionOptions } from '../assertion/assertion-terms'
import { requireJose } from './load-jose'
import { readIssuers, type TrustedIssuer } from './trusted-issuer'
import { verifyJwt } from './verify-jwt'

const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/** Options of {@link jwtBearer}. */
export interface JwtBearerOptions extends AssertionOptions {
  /** Whose assertions are taken. Each is held to keys of its own. */
  readonly issuers: readonly TrustedIssuer[]
  /**
   * What `aud` of an assertion must name, letter by letter: one of these, be there others beside it. Give the `issuer`
   * of this server (RFC 7523 3), and its token endpoint too where issuers use that.
   */
  readonly audience: string | readonly string[]
  /** Signature algorithms (RFC 7518 3.1, RFC 8037 3.1). Default: all asymmetric ones; others cannot be had. */
  readonly algorithms?: readonly string[]
}

/**
 * Assertions in JWT format as authorization grants (RFC 7523 2.1): `urn:ietf:params:oauth:grant-type:jwt-bearer`. The
 * client gets an access token for the owner whom a trusted issuer names, once for each assertion, and no refresh token.
 * An assertion has `iss`, `sub`, `aud`, `exp` and `jti`, and at most 16 KiB. Needs the package jose.
 *
 * @throws ConfigurationError when the options are wrong, or jose is not installed.
 */
export function jwtBearer(options: JwtBearerOptions): GrantType {
  const terms = readOptions(options)
  requireJose()
  return assertionGrant({
    name: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ...terms,
    verify: (assertion, now) => verifyJwt(assertion, now, terms),
  })
}

function readOptions(options: unknown) {
  const reading = new Reading(options, '')
  const read = {
    issuers: readIssuers(reading),
    audience: [reading.required('audience', '', isAudience, 'must be the issuer of this server.')].flat(),
    ...readAssertionTerms(reading),
    algorithms: reading.optional(
      'algorithms',
      algorithms,
      isAlgorithms,
      `must be a list of ${algorithms.join(', ')}.`,
    ),
  }
  reading.refuseUnknown()
  reading.settle('jwtBearer() cannot work with these options:')
  return read
}

const isAudience = (value: unknown): value is string | readonly string[] =>
  isText(value) || (isTexts(value) && value.length > 0)
const isAlgorithms = (value: unknown): value is readonly string[] =>
  isTexts(value) && value.length > 0 && value.every((name) => algorithms.includes(name))
