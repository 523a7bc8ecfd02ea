import { requireJose } from '../../../jwt/jose'
import { readAlgorithms, readAudience } from '../../../jwt/verify-jwt'
import { OptionsReader } from '../../../primitives/options-reader'
import type { GrantType } from '../../../authorization/grant-type'
import { assertionGrant, type AssertionOptions, readAssertionTerms } from '../assertion'
import { identityAssertionGrant, isIdentityAssertionProfile, type IdentityAssertionOptions } from './id-jag'
import { readTrustedIssuers, type TrustedIssuer, verifyAssertion } from './jwt-assertion'

/** For plain JWT assertions. */
export interface JwtBearerOptions extends AssertionOptions {
  /** For a profile see {@link IdentityAssertionOptions}. Default: none. */
  readonly profile?: undefined
  /** The trusted issuers, at least one. Only an issuer's own keys verify its assertions. */
  readonly issuers: readonly TrustedIssuer[]
  /**
   * The names of this server. The claim `aud` must contain one, letter by letter, and may contain others. Give
   * the `issuer` of this server (RFC 7523 3), and the URL of its token endpoint if issuers use that.
   */
  readonly audience: string | readonly string[]
  /**
   * The accepted signature algorithms (RFC 7518 3.1, RFC 8037 3.1), all or some of RS256, RS384, RS512, PS256,
   * PS384, PS512, ES256, ES384, ES512, EdDSA and Ed25519. Default: all.
   */
  readonly algorithms?: readonly string[]
}

const name = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

// RFC 8725 3.11: no access token (`at+jwt`), logout token or identity assertion (`oauth-id-jag+jwt`) of the
// same issuer.
const types = ['jwt', 'application/jwt']

/**
 * The grant type for JWT assertions, `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 2.1). Each
 * assertion gives one access token for the resource owner whom a trusted issuer names, and no refresh token. It
 * needs the claims `iss`, `sub`, `aud`, `exp` and `jti`, and has at most 16 KiB. The host installs `jose`.
 *
 * With `profile: 'id-jag'`, it takes identity assertions (draft-ietf-oauth-identity-assertion-authz-grant). A
 * server takes either kind: both have the same `grant_type`.
 *
 * @throws ConfigurationError if an option is wrong, or `jose` is not installed.
 */
export function jwtBearer(options: JwtBearerOptions | IdentityAssertionOptions): GrantType {
  const reading = new OptionsReader(options, '')
  const isProfiled = readProfile(reading)
  if (isProfiled) reading.refuse('audience', 'must be left out: the audience is the issuer of the server.')
  const terms = {
    issuers: readTrustedIssuers(reading),
    audience: isProfiled ? [] : readAudience(reading, 'must be the issuer of this server.'),
    ...readAssertionTerms(reading),
    algorithms: readAlgorithms(reading),
  }
  reading.refuseUnknown()
  reading.throwIssues('jwtBearer() cannot work with these options:')
  requireJose('jwtBearer()')
  if (isProfiled) return identityAssertionGrant(name, terms)
  return assertionGrant({
    name,
    ...terms,
    verify: (assertion, now) => verifyAssertion(assertion, now, { ...terms, types }),
  })
}

function readProfile(reading: OptionsReader): boolean {
  const cure = "must be 'id-jag', or left out for plain JWT assertions."
  return reading.optional('profile', undefined, isIdentityAssertionProfile, cure) !== undefined
}
