import { loadJose } from '../jwt/key-source'
import { knownTokens } from '../jwt/known-tokens'
import { type IssuerKeys, keysOfIssuer, type TrustedIssuer, trustedIssuers } from '../jwt/trusted-issuers'
import {
  decodedClaims,
  type JwtFault,
  longestJwt,
  RefusedJwt,
  verifiedAlgorithms,
  verifyJwt,
} from '../jwt/verify-jwt'
import { secondsOf } from '../primitives/clock'
import { aTextThat, oneOf, someSeconds } from '../primitives/fields'
import { type Fields, group, needed, optional, type Read, usual } from '../primitives/schema'
import type { Reason } from '../protocol/refusals'
import { type FoundToken, isGood, type TokenSender, type TokenSource } from './admit'
import {
  claimsFields,
  observedIn,
  registeredNames,
  type SourceTerms,
  type TokenClaimsOptions,
  tokenOfClaims,
} from './token-claims'

/**
 * Signatures prove the tokens: JWT access tokens (RFC 9068). The guard learns of no revocation: a token stays
 * valid until it expires.
 */
export type JwtSource = IssuerKeys &
  TokenClaimsOptions & {
    /**
     * Further issuers whose tokens pass, each with its keys. Each opens every route, and may give a
     * `subject`, `clientId` or scope another meaning: tell them apart by `req.oauth.claims.iss`. Default
     * none.
     */
    readonly otherIssuers?: readonly TrustedIssuer[]
    /**
     * Signature algorithms (RFC 7518 3.1, RFC 8037 3.1). Default: all asymmetric ones, the only ones
     * supported.
     */
    readonly algorithms?: readonly string[]
    /**
     * `typ` of the tokens. Default `at+jwt` (RFC 9068 2.1). `JWT` also accepts tokens of older issuers: `typ`
     * is `JWT` or missing, `client_id` or `azp` names the client, and the scope may be a list.
     */
    readonly type?: 'at+jwt' | 'JWT'
    /** The claim that names the client. Default `client_id`; with the type `JWT`, also `azp`. */
    readonly clientIdClaim?: string
    /** The claim with the scope. Default `scope`. */
    readonly scopeClaim?: string
    /** Whole seconds until a token is verified again, 1 to 86 400, within its lifetime. Default 300. */
    readonly maximumAge?: number
  }

export const issOfTokens = needed('', aTextThat('must be the iss of the tokens.'))
const aClaim = aTextThat('must be the name of a claim.')

const fields = {
  ...claimsFields,
  // The client must not discard a token that may be valid.
  ...keysOfIssuer('jwt_keys_unavailable'),
  otherIssuers: trustedIssuers('jwt_keys_unavailable'),
  algorithms: verifiedAlgorithms,
  type: usual('at+jwt', oneOf('at+jwt', 'JWT')),
  clientIdClaim: optional(aClaim),
  scopeClaim: usual(registeredNames.scope, aClaim),
  maximumAge: someSeconds(300, 1, 86_400),
} satisfies Fields<JwtSource>

export const jwtOptions = group(fields, { undefinedMembers: 'refused' })

/** RFC 9068 4 and 2.1. */
export function jwtSource(read: Read<typeof fields>, guard: SourceTerms): TokenSource {
  const { algorithms, clientIdClaim, scopeClaim, clockTolerance, maximumCached, maximumAge } = read
  const areOlder = read.type === 'JWT'
  const types = areOlder ? ['at+jwt', 'jwt'] : ['at+jwt']
  const usualNames = areOlder ? [...registeredNames.clientId, 'azp'] : registeredNames.clientId
  const issuers = new Map([[guard.issuer, read.jwks], ...read.otherIssuers])
  const jwt = { issuers, audience: undefined, algorithms, clockTolerance, types }
  const clientId = clientIdClaim === undefined ? usualNames : [clientIdClaim]
  const terms = { ...guard, ...read, names: { clientId, scope: scopeClaim, areOlder } }
  const clock = secondsOf(guard.clock)
  return {
    findToken: knownTokens<FoundToken, TokenSender>({
      maximumCached,
      longest: longestJwt,
      tooLong: { rejectReason: 'jwt_malformed' },
      async ask(text, now) {
        try {
          const { claims, expiresAt, keySet } = await verifyJwt(text, now, jwt)
          const found = tokenOfClaims(claims, expiresAt, terms)
          if (!isGood(found)) return { found, isGood: false, endsAt: now }
          return {
            found,
            isGood: true,
            endsAt: Math.min(expiresAt + clockTolerance, now + maximumAge),
            keySet,
          }
        } catch (error) {
          if (!(error instanceof RefusedJwt)) throw error
          const rejectReason = reasons[error.fault]
          const observed = observedIn(rejectReason, () => decodedClaims(text), now, [...issuers.keys()])
          return { found: { rejectReason, observed }, isGood: false, endsAt: now }
        }
      },
    }),
    ready: () => Promise.all([loadJose(), ...Array.from(issuers.values(), (keys) => keys.find(clock()))]),
  }
}

const reasons: Readonly<Record<JwtFault, Reason>> = {
  malformed: 'jwt_malformed',
  header_refused: 'jwt_header_refused',
  algorithm_refused: 'jwt_algorithm_refused',
  key_unknown: 'jwt_key_unknown',
  signature_wrong: 'jwt_signature_wrong',
  issuer_unknown: 'token_issuer_unknown',
  audience_wrong: 'token_resource',
  incomplete: 'token_incomplete',
  expired: 'token_expired',
  not_yet_valid: 'token_not_yet_valid',
}
