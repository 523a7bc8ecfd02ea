import { aCall, aFlag } from '../../primitives/fields'
import { type Fields, optional, readOptions } from '../../primitives/schema'
import type { Plugin } from '../../doors/plug-in'
import { issuerKeys, keysAt, keySet } from '../../jwt/key-source'
import { signingAlgorithm, type SigningAlgorithm } from '../../jwt/signing-keys/signing-algorithm'
import { keysOf, type SigningKeys } from '../../jwt/signing-keys/signing-keys'
import type { AccessTokenFormat } from '../../protocol/access-token-format'
import { urlBelow } from '../../endpoints/server-urls'
import { claimsOf, type HostClaims } from './access-token-claims'
import { formatName, jwtReader } from './jwt-reader'

/** Options of {@link jwtAccessTokens}. */
export interface JwtAccessTokensOptions {
  /** They stand before this plug-in in the option `plugins`. */
  readonly keys: SigningKeys
  /** Default: the first algorithm of the keys. */
  readonly algorithm?: SigningAlgorithm
  /**
   * Whether new access tokens are JWTs unless their resource says otherwise. With `false`, the server only
   * accepts them: deploy this to every process first, then `true`; on the way back likewise. Default true.
   */
  readonly issues?: boolean
  /**
   * Returns claims of the host: an object of JSON of at most 1 KiB, without claims that the server sets. Runs
   * before the server stores the token: a failure uses nothing up. A repeated refresh runs it again, for the
   * same claims. Default none.
   */
  readonly claims?: HostClaims
}

/**
 * Access tokens as JWTs (RFC 9068), which other services verify with the published keys. The record still
 * holds each token: guards on the store and introspection learn of a revocation at once. The format is
 * `at+jwt`; `resources[uri].accessTokenFormat` chooses it, or `opaque`, for one resource. Needs the option
 * `resources`.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function jwtAccessTokens(options: JwtAccessTokensOptions): Plugin {
  const { keys, algorithm, issues, claims } = readOptions('jwtAccessTokens()', fields, options)
  return {
    name: 'jwt-access-tokens',
    open(server) {
      const ring = keys.ringOf(server)
      const chosen = algorithm ?? ring.algorithms[0]
      if (chosen === undefined || !ring.algorithms.includes(chosen))
        throw new Error(`has the algorithm ${chosen}, but its keys have ${ring.algorithms.join(', ')}.`)
      if (server.resources.length === 0)
        throw new Error('needs the option resources, because a JWT access token names its audience.')
      ring.outlive(server.context().lifetimes.accessToken)
      const format: AccessTokenFormat = {
        ...jwtReader(server.issuer, ring.source, server.now),
        issues,
        encode: async (token, request) =>
          ring.sign(chosen, formatName, await claimsOf(token, request, claims)),
      }
      return { accessTokenFormats: [format] }
    },
  }
}

const fields = {
  keys: keysOf('signingKeys({ secrets })'),
  algorithm: optional(signingAlgorithm),
  issues: aFlag(true),
  claims: optional(aCall<HostClaims>()),
} satisfies Fields<JwtAccessTokensOptions>

/** Options of {@link jwtAccessTokenReader}: at most one. */
export interface JwtAccessTokenReaderOptions {
  /** The public keys of the issuer, as a JWK set (RFC 7517 5). */
  readonly keys?: { readonly keys: readonly object[] }
  /**
   * The URL of the JWK set. Default: `/.well-known/jwks.json` below the issuer, as `signingKeys()` publishes
   * it.
   */
  readonly jwksUri?: string
}

/**
 * Lets a guard of another process read JWT access tokens:
 * `createBearerGuard({ plugins: [jwtAccessTokenReader()] })`. Needs no secret. Each token is looked up in the
 * store, unless the option `verify` of the guard is `signature`.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function jwtAccessTokenReader(options: JwtAccessTokenReaderOptions = {}): Plugin {
  const read = readOptions('jwtAccessTokenReader()', readerFields, options, {
    check: ({ keys, jwksUri }, at) => {
      if (keys !== undefined && jwksUri !== undefined)
        at.wrong('keys', 'or jwksUri must be given, and not both.')
    },
  })
  const given = read.keys ?? read.jwksUri
  return {
    name: 'jwt-access-tokens',
    open() {
      throw new Error('is for createBearerGuard(): a server takes jwtAccessTokens({ keys }).')
    },
    openInGuard: ({ issuer, now }) => {
      const keys = given ?? issuerKeys(urlBelow(issuer, '/.well-known/jwks.json'), unavailable)
      return { accessTokenFormats: [jwtReader(issuer, keys, now)] }
    },
  }
}

const unavailable = 'signing_keys_unavailable'

const readerFields = {
  keys: optional(keySet),
  jwksUri: optional(keysAt(unavailable)),
} satisfies Fields<JwtAccessTokenReaderOptions>
