import { algorithmsOr, type JwsAlgorithm } from '../jwt/verify-jwt'
import { aFlag, secretExpectation, someSeconds } from '../primitives/fields'
import { type Fields, group, kind, optional, readOptions } from '../primitives/schema'
import { isLongSecret } from '../primitives/values'
import { type BaseUrl, baseUrlExpectation, basesOf, isBaseUrl, type KnownBase } from './proof-check'

/** Options of {@link dpop}. */
export interface DpopOptions {
  /**
   * Whether every token request needs a proof, and guards refuse tokens without a key. A registration may
   * demand it for one client: `dpop_bound_access_tokens`. Default false: without a proof, a request gets a
   * bearer token.
   */
  readonly required?: boolean
  /**
   * Signature algorithms, at least one. Default `['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256']`; also
   * `ES384`, `ES512`, `PS384`, `PS512`, `RS384` and `RS512`.
   */
  readonly algorithms?: readonly JwsAlgorithm[]
  /**
   * Whole seconds between a proof and the clock, 1 to 300. With nonces, the time of the nonce counts, and
   * only the clocks of processes must be so near. Default 60.
   */
  readonly tolerance?: number
  /** Demands a nonce at the endpoints of the authorization server (RFC 9449 8). Default: none. */
  readonly nonces?: DpopNonceOptions
  /** Demands a nonce at guards, and at the UserInfo endpoint (RFC 9449 9). Default: none. */
  readonly guardNonces?: DpopNonceOptions
  /**
   * The URL of the resource server, as clients write it, before the path of a request:
   * `https://api.example.com`. If a proxy removes a part of the path, end the URL with it. If a proxy adds a
   * part, name the URL for each beginning of paths: `{ '/internal': 'https://api.example.com' }`. Guards
   * compare `htu` with it, never with a header. Default: the origin of the resource of the guard; without
   * both, making the guard fails. The endpoints of the server compare with the option `issuer`.
   */
  readonly baseUrl?: BaseUrl
}

/** How a place makes nonces. */
export interface DpopNonceOptions {
  /**
   * At least 32 bytes, the same in all processes. Default: random, so that each process refuses the nonces of
   * the others.
   */
  readonly secret?: string
  /** Whole seconds for which a nonce is good, 10 to 3600. Default 300. */
  readonly seconds?: number
}

/** Without `bases`, the resource of a guard counts. */
export type DpopRules = ReturnType<typeof readDpopOptions>
export type NonceRules = NonNullable<DpopRules['nonces']>

export function readDpopOptions(options: unknown) {
  const { baseUrl, ...rules } = readOptions('dpop()', fields, options, { undefinedMembers: 'refused' })
  const bases: readonly KnownBase[] = baseUrl === undefined ? [] : basesOf(baseUrl)
  return { ...rules, bases }
}

// Without `secret`, each process has its own nonces.
const nonceRules = group(
  {
    secret: optional(kind(isLongSecret, `${secretExpectation}, the same in all processes.`)),
    seconds: someSeconds(300, 10, 3600),
  } satisfies Fields<DpopNonceOptions>,
  { undefinedMembers: 'refused' },
)

const fields = {
  required: aFlag(false),
  algorithms: algorithmsOr(['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256']),
  tolerance: someSeconds(60, 1, 300),
  nonces: optional(nonceRules),
  guardNonces: optional(nonceRules),
  baseUrl: optional(kind(isBaseUrl, baseUrlExpectation)),
} satisfies Fields<DpopOptions>
