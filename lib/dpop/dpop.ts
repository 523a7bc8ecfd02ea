import { isInMemory } from '../store/store'
import type { Plugin, PluginGuard, PluginRisk } from '../doors/plug-in'
import { algorithmsOr, type JwsAlgorithm } from '../jwt/verify-jwt'
import { aFlag, secretExpectation, someSeconds } from '../primitives/fields'
import { type Fields, group, kind, optional, type Read, readOptions } from '../primitives/schema'
import { isLongSecret, isRecord, isText } from '../primitives/values'
import { booleanMember } from '../protocol/client'
import type { RefusalTerms } from '../protocol/refusals'
import { isSafeUrl } from '../protocol/uri'
import { boundToken, dpopName, keyBinding, type KnownBase } from './key-binding'
import { Nonces, ProofCheck } from './proof-check'

/** Options of {@link dpop}. */
export interface DpopOptions {
  /**
   * Whether every token request needs a proof, and guards refuse tokens without a key. A registration may
   * demand it by `dpop_bound_access_tokens`. Default false: without a proof, a request gets a bearer token.
   */
  readonly required?: boolean
  /**
   * Signature algorithms, at least one. Default `['ES256', 'EdDSA', 'Ed25519', 'PS256', 'RS256']`; also
   * `ES384`, `ES512`, `PS384`, `PS512`, `RS384` and `RS512`.
   */
  readonly algorithms?: readonly JwsAlgorithm[]
  /**
   * Whole seconds between a proof and the clock, 1 to 300. With nonces, only the clocks of processes must be
   * so near. Default 60.
   */
  readonly tolerance?: number
  /** Demands a nonce at the endpoints of the server (RFC 9449 8). Default: none. */
  readonly nonces?: DpopNonceOptions
  /** Demands a nonce at guards and the UserInfo endpoint (RFC 9449 9). Default: none. */
  readonly guardNonces?: DpopNonceOptions
  /**
   * The URL of the resource server, as clients write it, before the path of a request:
   * `https://api.example.com`, with the part of the path that a proxy removes. If a proxy adds a part, name
   * the URL for each beginning of paths: `{ '/internal': 'https://api.example.com' }`. Guards compare `htu`
   * with it, never with a header. Default: the origin of the resource of the guard; without both, making the
   * guard fails. The endpoints of the server compare with the option `issuer`.
   */
  readonly baseUrl?: BaseUrl
}

export interface DpopNonceOptions {
  /**
   * At least 32 bytes, the same in all processes. Default: random, so each process refuses the nonces of the
   * others.
   */
  readonly secret?: string
  /** Whole seconds for which a nonce is good, 10 to 3600. Default 300. */
  readonly seconds?: number
}

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
  baseUrl: (given, at, name) => basesOf(optional(aBaseUrl)(given, at, name) ?? {}),
} satisfies Fields<DpopOptions>

type DpopRules = Read<typeof fields>

/** A URL, or URLs by the beginning of the path at this process. */
export type BaseUrl = string | Readonly<Record<string, string>>

const isBaseUrl = (value: unknown): value is BaseUrl => {
  if (isText(value)) return isUrlWithoutQuery(value)
  const entries = isRecord(value) ? Object.entries(value) : []
  return entries.length > 0 && entries.every(([path, url]) => isPath(path) && isUrlWithoutQuery(url))
}

const aBaseUrl = kind(
  isBaseUrl,
  "must be the URL of the resource server as clients write it, such as https://api.example.com, or an object of paths and URLs, such as { '/internal': 'https://api.example.com' }: https, or http on a loopback host, without a query.",
)

const isUrlWithoutQuery = (value: unknown) => isText(value) && isSafeUrl(value) && !value.includes('?')
const isPath = (path: string) => path.startsWith('/') && !/[?#]/.test(path)
const withoutSlash = (text: string) => text.replace(/\/+$/, '')

function basesOf(option: BaseUrl): readonly KnownBase[] {
  const table = typeof option === 'string' ? { '/': option } : option
  return Object.entries(table)
    .map(([path, url]) => ({ prefix: withoutSlash(path), url: withoutSlash(url) }))
    .toSorted((one, other) => other.prefix.length - one.prefix.length)
}

declare module '../protocol/client' {
  interface ClientRegistration {
    /**
     * With `dpop()`. Whether each token request of the client needs a DPoP proof (RFC 9449 5.2). Default: the
     * option `required`.
     */
    readonly dpop_bound_access_tokens?: boolean | undefined
  }
}

/**
 * Binds access tokens to a key of the client (RFC 9449): a thief who copies one cannot use it. The proof of a
 * token request chooses the token type `DPoP`. It also binds the refresh tokens of public clients, and an
 * authorization request may bind its code with `dpop_jkt`. Pass the plug-in to each guard of another process.
 * A proof passes once in all processes that share a store; else once in each.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function dpop(options: DpopOptions = {}): Plugin {
  const rules = readOptions('dpop()', fields, options, { undefinedMembers: 'refused' })
  return {
    name: dpopName,
    open(server) {
      const atEndpoints = proofCheck(rules, rules.nonces, `authorization server ${server.issuer}`, server, {})
      return {
        tokenTypes: [tokenType(rules, server)],
        ...keyBinding(rules, atEndpoints, server),
        // RFC 9449 5.1
        metadata: { dpop_signing_alg_values_supported: rules.algorithms },
        // RFC 9449 5.2
        clientMembers: [booleanMember('dpop_bound_access_tokens')],
        risks: isInMemory(server.storage) ? [] : risksOf(rules),
      }
    },
    openInGuard: (guard) => ({ tokenTypes: [tokenType(rules, guard)] }),
  }
}

function tokenType(rules: DpopRules, guard: PluginGuard) {
  const place = `resource server ${guard.issuer}`
  // RFC 9449 7.1, 7.2 and 9.
  const refusal = { status: 401, challenge: {}, schemes: ['DPoP'] }
  return boundToken(rules, proofCheck(rules, rules.guardNonces, place, guard, refusal))
}

function proofCheck(
  { algorithms, tolerance }: DpopRules,
  nonces: DpopRules['nonces'],
  place: string,
  { random, now }: PluginGuard,
  refusal: RefusalTerms,
): ProofCheck {
  const made = nonces && new Nonces(nonces.secret ?? random(43), place, nonces.seconds, tolerance)
  return new ProofCheck({ algorithms, tolerance, nonces: made, refusal, now })
}

// A store may be shared, and the nonces are not.
function risksOf(rules: DpopRules): readonly PluginRisk[] {
  const places = ['nonces', 'guardNonces'] as const
  return places
    .filter((place) => rules[place] !== undefined && rules[place].secret === undefined)
    .map((place) => ({ rule: 'dpop-nonce-secret', path: `${place}.secret` }))
}
