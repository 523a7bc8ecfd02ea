import {
  type PlainIssuer,
  plainIssuers,
  type TrustedIssuer,
  trustedIssuers,
} from '../../../jwt/trusted-issuers'
import { anAudience, verifiedAlgorithms } from '../../../jwt/verify-jwt'
import { someSeconds } from '../../../primitives/fields'
import { type Fields, optional, type Place, type Read, readOptions } from '../../../primitives/schema'
import type { GrantType } from '../../../authorization/grant-type'
import type { Plugin } from '../../../doors/plug-in'
import { assertionFields, assertionGrant, type AssertionOptions } from '../assertion'
import { identityAssertionGrant, isIdentityAssertion } from './id-jag'
import { verifyAssertion } from './jwt-assertion'

/** At least one issuer or identity provider. Only its own keys verify its assertions. */
export interface JwtBearerOptions extends AssertionOptions {
  /** The trusted issuers of plain JWT assertions. Default none. */
  readonly issuers?: readonly PlainIssuer[]
  /**
   * The trusted issuers of identity assertions (ID-JAG, draft-ietf-oauth-identity-assertion-authz-grant): the
   * identity provider of an enterprise says which of its people use which client, and for what. Default none.
   */
  readonly identityProviders?: readonly TrustedIssuer[]
  /**
   * The names of this server in plain assertions. The claim `aud` must contain one, letter by letter, and may
   * contain others. Give the URL of the token endpoint, too, if issuers use that. Default: the `issuer` of the
   * server (RFC 7523 3).
   */
  readonly audience?: string | readonly string[]
  /**
   * The accepted signature algorithms (RFC 7518 3.1, RFC 8037 3.1), all or some of RS256, RS384, RS512, PS256,
   * PS384, PS512, ES256, ES384, ES512, EdDSA and Ed25519. Default: all.
   */
  readonly algorithms?: readonly string[]
  /**
   * How long an access token for an assertion of a `repeatable` issuer lives at most, in whole seconds, 1 to
   * 86 400. It never outlives the assertion. Default 300.
   */
  readonly repeatableTokenLifetime?: number
}

const name = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

// RFC 8725 3.11: no access token (`at+jwt`), logout token or identity assertion (`oauth-id-jag+jwt`) of the
// same issuer.
const types = ['jwt']

/**
 * The grant type for JWT assertions, `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 2.1). Each
 * assertion gives one access token for the resource owner whom a trusted issuer names, and no refresh token. It
 * needs the claims `iss`, `sub`, `aud`, `exp` and `jti`, and has at most 16 KiB.
 *
 * The header `typ` tells an identity assertion (`oauth-id-jag+jwt`) from a plain one (`JWT`, or none). An
 * issuer in one list is none of the other.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function jwtBearer(options: JwtBearerOptions): Plugin {
  const read = readOptions('jwtBearer()', fields, options, { check: checkIssuers })
  return { name: 'jwt-bearer', grantTypes: [grantTypeFor(read)] }
}

function grantTypeFor(read: Read<typeof fields>): GrantType {
  const { issuers, identityProviders, audience, ...terms } = read
  const plain = assertionGrant({
    name,
    ...terms,
    verify(assertion, now, issuer) {
      const expected = { ...terms, issuers: issuers.keys, audience: audience ?? [issuer], types }
      return verifyAssertion(assertion, now, expected, issuers.repeatable)
    },
  })
  if (identityProviders.size === 0) return plain
  const identity = identityAssertionGrant(name, { ...terms, issuers: identityProviders })
  if (issuers.keys.size === 0) return identity
  return {
    ...identity,
    publicClients: true,
    handle: (request) =>
      (isIdentityAssertion(request.parameters.require('assertion')) ? identity : plain).handle(request),
  }
}

const fields = {
  // At `invalid_grant`, the client would discard an assertion that may be valid.
  issuers: plainIssuers('assertion_keys_unavailable'),
  identityProviders: trustedIssuers('assertion_keys_unavailable'),
  audience: optional(anAudience('must be the issuer of this server.')),
  ...assertionFields,
  algorithms: verifiedAlgorithms,
  repeatableTokenLifetime: someSeconds(300, 1, 86_400),
} satisfies Fields<JwtBearerOptions>

function checkIssuers({ issuers, identityProviders, audience }: Read<typeof fields>, at: Place): void {
  if (issuers.keys.size + identityProviders.size === 0)
    at.wrong('issuers', 'or identityProviders must list a trusted issuer.')
  if (audience !== undefined && issuers.keys.size === 0)
    at.wrong('audience', 'is for issuers: the audience of an identity assertion is the issuer of the server.')
}
