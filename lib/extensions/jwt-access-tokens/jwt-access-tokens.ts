import { aCall, aFlag } from '../../primitives/fields'
import { type Fields, optional, readOptions } from '../../primitives/schema'
import type { Plugin } from '../../doors/plug-in'
import type { KeySource } from '../../jwt/key-source'
import { ownTerms } from '../../jwt/signing-keys/key-ring'
import { type IssuerKeys, issuerKeys, keysOfIssuer } from '../../jwt/trusted-issuers'
import { signingAlgorithm, type SigningAlgorithm } from '../../jwt/signing-keys/signing-key'
import { keysOf, type SigningKeys } from '../../jwt/signing-keys/signing-keys'
import type {
  AccessTokenContent,
  AccessTokenFormat,
  AccessTokenReader,
} from '../../protocol/access-token-format'
import { knownTokens } from '../../jwt/known-tokens'
import { longestJwt, RefusedJwt, verifyJwt } from '../../jwt/verify-jwt'
import { urlBelow } from '../../endpoints/server-urls'
import { claimsOf, contentOf, type HostClaims } from './access-token-claims'

/** Options of {@link jwtAccessTokens}. */
export interface JwtAccessTokensOptions {
  /** They stand before this plug-in in the option `plugins`. */
  readonly keys: SigningKeys
  /** Default: the first algorithm of the keys. */
  readonly algorithm?: SigningAlgorithm
  /**
   * Whether new access tokens are JWTs unless their resource says otherwise. With `false`, the server only
   * accepts them: deploy this to every process first, then `true`, and back likewise. Default true.
   */
  readonly issues?: boolean
  /**
   * Returns claims of the host: an object of JSON of at most 1 KiB, without claims that the server sets. Runs
   * before the server stores the token: a failure uses nothing up. A repeated refresh runs it again. Default
   * none.
   */
  readonly claims?: HostClaims
}

/**
 * Access tokens as JWTs (RFC 9068), which other services verify with the published keys. The record still
 * holds each token: guards on the store and introspection learn of a revocation at once. The format is
 * `at+jwt`; `resources[uri].accessTokenFormat` chooses it, or `opaque`, for one resource. Needs the option
 * `resources`.
 *
 * @throws ConfigurationError that lists every mistake.
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

/**
 * Lets a guard of another process read JWT access tokens, without a secret:
 * `createBearerGuard({ plugins: [jwtAccessTokenReader()] })`. It looks each token up in the store, unless the
 * option `verify` of the guard is `signature`.
 *
 * @param options default: `jwks_uri` is `/.well-known/jwks.json` below the issuer, as `signingKeys()`
 * publishes it.
 * @throws ConfigurationError that lists every mistake.
 */
export function jwtAccessTokenReader(options?: IssuerKeys): Plugin {
  const given =
    options === undefined
      ? undefined
      : readOptions('jwtAccessTokenReader()', keysOfIssuer(unavailable), options)
  return {
    name: 'jwt-access-tokens',
    open() {
      throw new Error('is for createBearerGuard(): a server takes jwtAccessTokens({ keys }).')
    },
    openInGuard: ({ issuer, now }) => {
      const keys = given?.jwks ?? issuerKeys(urlBelow(issuer, '/.well-known/jwks.json'), unavailable)
      return { accessTokenFormats: [jwtReader(issuer, keys, now)] }
    },
  }
}

const unavailable = 'signing_keys_unavailable'

/** RFC 9068 2.1. */
const formatName = 'at+jwt'

// Each about 1 KB.
const maximumCached = 10_000

/** RFC 9068 4. @param clock seconds since the epoch. */
function jwtReader(issuer: string, keys: KeySource, clock: () => number): AccessTokenReader {
  // The record, or the guard, knows audience and end: a client may revoke an expired token.
  const terms = ownTerms(issuer, keys, formatName)
  const find = knownTokens<AccessTokenContent | undefined, undefined>({
    maximumCached,
    longest: longestJwt,
    tooLong: undefined,
    async ask(text, now) {
      try {
        const { claims, keySet, expiresAt } = await verifyJwt(text, now, terms)
        const found = contentOf(claims)
        return { found, isGood: found !== undefined && now < expiresAt, endsAt: expiresAt, keySet }
      } catch (error) {
        if (error instanceof RefusedJwt) return { found: undefined, isGood: false, endsAt: now }
        throw error
      }
    },
  })
  const read = async (text: string) => find(text, clock(), undefined)
  return { name: formatName, decode: read, read }
}
