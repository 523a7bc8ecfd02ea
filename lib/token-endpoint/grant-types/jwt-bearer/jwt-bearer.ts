import { readAlgorithms } from '../../../jwt/algorithms'
import { readAudience } from '../../../jwt/audience'
import { requireJose } from '../../../jwt/load-jose'
import { OptionsReader } from '../../../protocol/configuration'
import type { GrantType } from '../../grant-type'
import { assertionGrant } from '../assertion/assertion-grant'
import { readAssertionTerms, type AssertionOptions } from '../assertion/assertion-terms'
import { readTrustedIssuers, type TrustedIssuer } from './trusted-issuer'
import { verifyAssertion } from './verify-assertion'

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
  requireJose('jwtBearer()')
  return assertionGrant({
    name: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    ...terms,
    verify: (assertion, now) => verifyAssertion(assertion, now, terms),
  })
}

function readOptions(options: unknown) {
  const reading = new OptionsReader(options, '')
  const read = {
    issuers: readTrustedIssuers(reading),
    audience: readAudience(reading, 'must be the issuer of this server.'),
    ...readAssertionTerms(reading),
    algorithms: readAlgorithms(reading),
  }
  reading.refuseUnknown()
  reading.settle('jwtBearer() cannot work with these options:')
  return read
}
