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

/** A party whose assertions are taken, and its public keys: given, or fetched from where it publishes them. */
export type TrustedIssuer = {
  /** `iss` of its assertions, letter by letter. */
  readonly issuer: string
} & (
  | {
      /** A JWK set (RFC 7517 5) of public keys. */
      readonly jwks: { readonly keys: readonly object[] }
      readonly jwks_uri?: undefined
    }
  | {
      /**
       * Where the issuer publishes its JWK set: https, or http on a loopback host. It is fetched at first use and again
       * after 10 minutes, or when an assertion names a key that is not in it; never twice within 10 seconds. Redirects
       * are not followed; 256 KiB and 5 seconds at most.
       */
      readonly jwks_uri: string
      readonly jwks?: undefined
    }
)

/** Reads the trusted issuers: each one's keys under its name. */
export function readTrustedIssuers(reading: OptionsReader): ReadonlyMap<string, KeySource> {
  const cure = 'must be a list of at least one { issuer, jwks } or { issuer, jwks_uri }.'
  const issuers = new Map<string, KeySource>()
  for (const [index, given] of reading.required('issuers', [], isFilledList, cure).entries()) {
    const entry = new OptionsReader(given, `issuers[${index}]`, reading.issues)
    const issuer = entry.required('issuer', '', isText, 'must be the iss of its assertions.')
    if (issuers.has(issuer)) entry.wrong('issuer', `is "${issuer}", which is in the list already.`)
    issuers.set(issuer, readKeys(entry, { given: 'jwks', published: 'jwks_uri' }))
    entry.refuseUnknown()
  }
  return issuers
}

const isFilledList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0

// RFC 8725 3.11: an access token (`at+jwt`) or a logout token of the same issuer is no grant.
const types = ['jwt', 'application/jwt']

/**
 * Proves an assertion by the keys of the issuer that it names (RFC 7523 3).
 *
 * @param now seconds since the epoch.
 * @throws OAuthError `invalid_grant`, or `temporarily_unavailable` when the issuer's keys cannot be had.
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

/** What a client is told of an assertion that was not taken; what is no fault of it stays as it is. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof RefusedJwt) return refusals[error.fault]()
  if (!(error instanceof KeysUnavailable)) return error
  // The assertion may be good: the client shall not throw it away.
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
