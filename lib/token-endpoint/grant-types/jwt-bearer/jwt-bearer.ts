import { anAudience, verifiedAlgorithms } from '../../../jwt/verify-jwt'
import { type Fields, kind, optional, type Place, type Read, readOptions } from '../../../primitives/schema'
import type { GrantType } from '../../../authorization/grant-type'
import { assertionFields, assertionGrant, type AssertionOptions } from '../assertion'
import { identityAssertionGrant, isIdentityAssertionProfile, type IdentityAssertionOptions } from './id-jag'
import { trustedIssuers, type TrustedIssuer, verifyAssertion } from './jwt-assertion'

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
 * needs the claims `iss`, `sub`, `aud`, `exp` and `jti`, and has at most 16 KiB.
 *
 * With `profile: 'id-jag'`, it takes identity assertions (draft-ietf-oauth-identity-assertion-authz-grant). A
 * server takes either kind: both have the same `grant_type`.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function jwtBearer(options: JwtBearerOptions | IdentityAssertionOptions): GrantType {
  const {
    profile,
    audience = [],
    ...terms
  } = readOptions('jwtBearer()', fields, options, { check: checkAudience })
  if (profile !== undefined) return identityAssertionGrant(name, terms)
  return assertionGrant({
    name,
    ...terms,
    verify: (assertion, now) => verifyAssertion(assertion, now, { ...terms, audience, types }),
  })
}

const fields = {
  profile: optional(
    kind(isIdentityAssertionProfile, "must be 'id-jag', or left out for plain JWT assertions."),
  ),
  issuers: trustedIssuers,
  audience: optional(anAudience('must be the issuer of this server.')),
  ...assertionFields,
  algorithms: verifiedAlgorithms,
} satisfies Fields<JwtBearerOptions>

function checkAudience({ profile, audience }: Partial<Read<typeof fields>>, at: Place): void {
  if (profile === undefined && at.source['audience'] === undefined)
    at.wrong('audience', 'is missing: it must be the issuer of this server.')
  if (profile !== undefined && audience !== undefined)
    at.wrong('audience', 'must be left out: the audience is the issuer of the server.')
}
