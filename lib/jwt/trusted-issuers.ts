import { aFlag, anything, aTextThat } from '../primitives/fields'
import { type Field, group, needed, optional, type Place, rows } from '../primitives/schema'
import { isRecord } from '../primitives/values'
import { type RefusalName, refused } from '../protocol/refusals'
import { safeUrl } from '../protocol/uri'
import { FetchedKeys, KeySet, type KeySource } from './key-source'
import { parsePublicKeys } from './public-keys'

/** The public keys of an issuer: either `jwks` or `jwks_uri`. */
export type IssuerKeys =
  | {
      /** A JWK set (RFC 7517 5). */
      readonly jwks: { readonly keys: readonly object[] }
      readonly jwks_uri?: never
    }
  | {
      /**
       * https, or http on a loopback host. Fetched at first use, again after 10 minutes, and for an unknown
       * key, but at most once in 10 seconds; without redirects, at most 256 KiB within 5 seconds.
       */
      readonly jwks_uri: string
      readonly jwks?: never
    }

export type TrustedIssuer = IssuerKeys & {
  /** The claim `iss` of its JWTs. */
  readonly issuer: string
}

/** An issuer of plain JWTs, such as a platform. */
export type PlainIssuer = TrustedIssuer & {
  /**
   * Whether its assertions may come again until they end, within a day, without `jti`. Gives up single use
   * (RFC 7523 3): whoever steals an assertion can use it as often as the program itself. Default `false`.
   */
  readonly repeatable?: boolean
}

/** Seconds. */
export const longestRepeatable = 86_400

type KeysByIssuer = ReadonlyMap<string, KeySource>
/** Of the refusal while the keys are unavailable. */
type KeysReason = Extract<RefusalName, `${string}keys_unavailable`>

export function trustedIssuers(reason: KeysReason): Field<KeysByIssuer> {
  const trusted = rows(group(row(reason)), what)
  return (given, at, name) => keysByIssuer(trusted(given, at, name), at, name)
}

export function plainIssuers(
  reason: KeysReason,
): Field<{ readonly keys: KeysByIssuer; readonly repeatable: ReadonlySet<string> }> {
  const plain = rows(group({ ...row(reason), repeatable: aFlag(false) }), what)
  return (given, at, name) => {
    const listed = plain(given, at, name)
    const repeatable = listed.filter((each) => each.repeatable).map(({ issuer }) => issuer)
    return { keys: keysByIssuer(listed, at, name), repeatable: new Set(repeatable) }
  }
}

const what = '{ issuer, jwks } or { issuer, jwks_uri }'
const row = (reason: KeysReason) => ({
  issuer: needed('', aTextThat('must be the claim iss of its JWTs.')),
  ...keysOfIssuer(reason),
})

function keysByIssuer(
  listed: readonly { readonly issuer: string; readonly jwks: KeySource }[],
  at: Place,
  name: string,
): KeysByIssuer {
  const issuers = new Map<string, KeySource>()
  for (const [index, { issuer, jwks }] of listed.entries()) {
    if (issuers.has(issuer))
      at.wrong(`${name}[${index}].issuer`, `is "${issuer}", which is in the list already.`)
    issuers.set(issuer, jwks)
  }
  return issuers
}

/** `jwks` is then the source of the keys. */
export const keysOfIssuer = (reason: KeysReason) => ({ jwks: givenOrFetched(reason), jwks_uri: anything })

const givenOrFetched =
  (reason: KeysReason): Field<KeySource> =>
  (given, at, name) => {
    at.requireOne('jwks', 'jwks_uri')
    if (given !== undefined) return keySet(given, at, name)
    const uri = at.field('jwks_uri', optional(safeUrl))
    return uri === undefined ? new KeySet([]) : issuerKeys(uri, reason)
  }

const keySet: Field<KeySource> = (given, at, name) => {
  const { keys, problems } = parsePublicKeys(given) ?? { keys: [], problems: [] }
  for (const { index, message } of problems) at.wrong(`${name}.keys[${index}]`, message)
  const hint = isRecord(given) && !('keys' in given) ? ': { keys: [...] }' : ''
  if (keys.length === 0 && problems.length === 0)
    at.wrong(name, `must be a JWK set with a public key for signatures${hint}.`)
  return new KeySet(keys)
}

export const issuerKeys = (uri: string, reason: KeysReason): KeySource =>
  new FetchedKeys(uri, {
    unavailable: (cause, seconds) =>
      refused(reason, {}, { cause, ...(seconds && { headers: { 'Retry-After': String(seconds) } }) }),
  })
