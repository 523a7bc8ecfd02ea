import { isText, isTexts, Reading } from '../../../protocol/configuration'
import type { GrantType } from '../../grant-type'
import type { OwnerOfAssertion } from '../assertion/assertion'
import { assertionGrant } from '../assertion/assertion-grant'
import { requireJose } from './load-jose'
import { readIssuers, type TrustedIssuer } from './trusted-issuer'
import { verifyJwt } from './verify-jwt'

const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/** Options of {@link jwtBearer}. */
export interface JwtBearerOptions {
  /** Whose assertions are taken. Each is held to keys of its own. */
  readonly issuers: readonly TrustedIssuer[]
  /**
   * What `aud` of an assertion must name, letter by letter: one of these, be there others beside it. Give the `issuer`
   * of this server (RFC 7523 3), and its token endpoint too where issuers use that.
   */
  readonly audience: string | readonly string[]
  /** Whom of the host's own an assertion is about; undefined refuses it. It may also look at the client. */
  readonly resourceOwner: OwnerOfAssertion
  /** How far the issuers' clocks may differ from this one's, in seconds, at most 300. Default 30. */
  readonly clockTolerance?: number
  /** How far ahead `exp` may be, in seconds, at most 86400: so long each use is remembered. Default 3600. */
  readonly maximumLifetime?: number
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
  const { resourceOwner, ...terms } = readOptions(options)
  requireJose()
  return assertionGrant({
    name: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    resourceOwner,
    clockTolerance: terms.clockTolerance,
    maximumLifetime: terms.maximumLifetime,
    verify: (assertion, now) => verifyJwt(assertion, now, terms),
  })
}

function readOptions(options: unknown) {
  const reading = new Reading(options, '')
  const read = {
    issuers: readIssuers(reading),
    audience: [reading.required('audience', '', isAudience, 'must be the issuer of this server.')].flat(),
    resourceOwner: reading.required(
      'resourceOwner',
      () => undefined,
      isOwnerOfAssertion,
      'must be a function of an assertion and a client that returns a subject, or undefined to refuse.',
    ),
    clockTolerance: reading.optional('clockTolerance', 30, isWithin(0, 300), 'must be seconds, 0 to 300.'),
    maximumLifetime: reading.optional(
      'maximumLifetime',
      3600,
      isWithin(1, 86_400),
      'must be seconds, 1 to 86400.',
    ),
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
const isOwnerOfAssertion = (value: unknown): value is OwnerOfAssertion => typeof value === 'function'
const isWithin =
  (least: number, most: number) =>
  (value: unknown): value is number =>
    typeof value === 'number' && value >= least && value <= most
const isAlgorithms = (value: unknown): value is readonly string[] =>
  isTexts(value) && value.length > 0 && value.every((name) => algorithms.includes(name))
