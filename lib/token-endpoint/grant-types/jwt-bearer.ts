import { requireJose } from '../../jwt/jose'
import { type KeySource, KeysUnavailable, readKeys } from '../../jwt/key-source'
import {
  type JwtFault,
  type JwtTerms,
  readAlgorithms,
  readAudience,
  RefusedJwt,
  verifyJwt,
} from '../../jwt/verify-jwt'
import { isText, OptionsReader } from '../../protocol/configuration'
import { invalidGrant, type OAuthError, temporarilyUnavailable } from '../../protocol/oauth-error'
import type { GrantType } from '../grant-type'
import { type Assertion, assertionGrant, type AssertionOptions, readAssertionTerms } from './assertion'

/** Options of {@link jwtBearer}. */
export interface JwtBearerOptions extends AssertionOptions {
  /**
   * The trusted issuers, at least one. The server verifies the assertions of an issuer with the keys of that issuer
   * only.
   */
  readonly issuers: readonly TrustedIssuer[]
  /**
   * The names of this server. The claim `aud` of an assertion must contain one of them, letter by letter, and may
   * contain others. Give the `issuer` of this server (RFC 7523 3), and the URL of its token endpoint if issuers use
   * that.
   */
  readonly audience: string | readonly string[]
  /**
   * The signature algorithms that the server accepts (RFC 7518 3.1, RFC 8037 3.1). Default: RS256, RS384, RS512,
   * PS256, PS384, PS512, ES256, ES384, ES512, EdDSA and Ed25519. The option can only name algorithms of this list.
   */
  readonly algorithms?: readonly string[]
}

/**
 * Makes the grant type for JWT assertions, `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523 2.1). For each
 * assertion, the client gets one access token for the resource owner whom a trusted issuer names, and no refresh
 * token. An assertion must have the claims `iss`, `sub`, `aud`, `exp` and `jti`, and at most 16 KiB. The host
 * installs the package `jose`.
 *
 * @throws ConfigurationError if an option is wrong, or `jose` is not installed.
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

/**
 * A party whose assertions the server accepts, and its public keys: as a JWK set, or as the URL where the party
 * publishes the set.
 */
export type TrustedIssuer = {
  /** The claim `iss` of the assertions of this issuer, letter by letter. */
  readonly issuer: string
} & (
  | {
      /** A JWK set (RFC 7517 5) of public keys. */
      readonly jwks: { readonly keys: readonly object[] }
      readonly jwks_uri?: undefined
    }
  | {
      /**
       * The URL where the issuer publishes its JWK set: https, or http on a loopback host. The server fetches the set
       * at first use, again after 10 minutes, and when an assertion names a key that the set does not have, but at
       * most once in 10 seconds. The server follows no redirects. It accepts at most 256 KiB and waits at most
       * 5 seconds.
       */
      readonly jwks_uri: string
      readonly jwks?: undefined
    }
)

/** Reads the trusted issuers. The result maps the name of each issuer to its keys. */
export function readTrustedIssuers(reading: OptionsReader): ReadonlyMap<string, KeySource> {
  const cure = 'must be a list of at least one { issuer, jwks } or { issuer, jwks_uri }.'
  const issuers = new Map<string, KeySource>()
  for (const [index, given] of reading.required('issuers', [], isFilledList, cure).entries()) {
    const entry = new OptionsReader(given, `issuers[${index}]`, reading.issues)
    const issuer = entry.required('issuer', '', isText, 'must be the claim iss of its assertions.')
    if (issuers.has(issuer)) entry.wrong('issuer', `is "${issuer}", which is in the list already.`)
    issuers.set(issuer, readKeys(entry, { given: 'jwks', published: 'jwks_uri' }))
    entry.refuseUnknown()
  }
  return issuers
}

const isFilledList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0

// RFC 8725 3.11: the type of a JWT separates its purposes. An access token (`at+jwt`) or a logout token of the same
// issuer is not a grant.
const types = ['jwt', 'application/jwt']

/**
 * Verifies an assertion with the keys of the issuer that the assertion names (RFC 7523 3).
 *
 * @param now seconds since the epoch.
 * @throws OAuthError `invalid_grant`; `temporarily_unavailable` if the keys of the issuer are not available.
 */
export async function verifyAssertion(
  assertion: string,
  now: number,
  terms: Omit<JwtTerms, 'types'>,
): Promise<Assertion> {
  const proven = await verifyJwt(assertion, now, { ...terms, types }).catch((error: unknown) => {
    throw refusalOf(error)
  })
  const { issuer, subject, expiresAt } = proven
  const { iss: _iss, sub: _sub, exp: _exp, jti: id, ...claims } = proven.claims
  if (!isText(id)) throw incomplete()
  return { issuer, subject, id, expiresAt, claims }
}

/**
 * Makes the OAuth error for an assertion that failed verification. Returns an error that the assertion did not cause
 * unchanged.
 */
export function refusalOf(error: unknown): unknown {
  if (error instanceof RefusedJwt) return refusals[error.fault]()
  if (!(error instanceof KeysUnavailable)) return error
  // The assertion may be valid. With `invalid_grant`, the client would discard it.
  return temporarilyUnavailable(
    'assertion_keys_unavailable',
    'The keys of the issuer of the assertion cannot be had.',
    { cause: error.cause },
  )
}

export const incomplete = () =>
  invalidGrant('assertion_incomplete', 'The assertion lacks a claim, or has one of a wrong type.')

const refusals: Readonly<Record<JwtFault, () => OAuthError>> = {
  malformed: () => invalidGrant('assertion_malformed', 'The assertion is malformed.'),
  header_refused: () =>
    invalidGrant('assertion_header_refused', 'The assertion is of another kind or needs an extension.'),
  issuer_unknown: () =>
    invalidGrant('assertion_issuer_unknown', 'The issuer of the assertion is not trusted.'),
  algorithm_refused: () =>
    invalidGrant('assertion_algorithm_refused', 'The assertion is not signed by its issuer.'),
  key_unknown: () => invalidGrant('assertion_key_unknown', 'The assertion is not signed by its issuer.'),
  signature_wrong: () =>
    invalidGrant('assertion_signature_wrong', 'The assertion is not signed by its issuer.'),
  incomplete,
  audience_wrong: () =>
    invalidGrant('assertion_audience_wrong', 'The assertion is meant for another server.'),
  expired: () => invalidGrant('assertion_expired', 'The assertion has expired.'),
  not_yet_valid: () => invalidGrant('assertion_not_yet_valid', 'The assertion is not valid yet.'),
}
