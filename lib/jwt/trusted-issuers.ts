import { aFlag, aTextThat } from '../primitives/fields'
import {
  type Field,
  type Fields,
  group,
  needed,
  optional,
  type Place,
  type Read,
  rows,
} from '../primitives/schema'
import { KeySet, keysAt, keySet, type KeySource, type KeysReason } from './key-source'

export type TrustedIssuer = {
  /** The claim `iss` of its assertions, letter by letter. */
  readonly issuer: string
} & (
  | {
      /** A JWK set (RFC 7517 5) of public keys. */
      readonly jwks: { readonly keys: readonly object[] }
      readonly jwks_uri?: undefined
    }
  | {
      /**
       * The URL of the issuer's JWK set: https, or http on a loopback host. The server fetches it at first use,
       * again after 10 minutes, and for an unknown key, but at most once in 10 seconds. It follows no
       * redirects, accepts at most 256 KiB and waits at most 5 seconds.
       */
      readonly jwks_uri: string
      readonly jwks?: undefined
    }
)

/** An issuer of plain JWTs, such as a platform that gives its programs tokens. */
export type PlainIssuer = TrustedIssuer & {
  /**
   * Whether its assertions may come again until they end, within a day: a program of a platform reads one
   * token until the platform renews it. They need no `jti`. Gives up single use (RFC 7523 3): whoever steals an
   * assertion can use it until its end, as often as the program itself. Default `false`.
   */
  readonly repeatable?: boolean
}

interface PlainIssuers {
  readonly keys: ReadonlyMap<string, KeySource>
  readonly repeatable: ReadonlySet<string>
}

/** Seconds from now to the end of a repeatable assertion. */
export const longestRepeatable = 86_400

const row = (reason: KeysReason) =>
  ({
    issuer: needed('', aTextThat('must be the claim iss of its assertions.')),
    jwks: optional(keySet),
    jwks_uri: optional(keysAt(reason)),
  }) satisfies Fields<TrustedIssuer>
const check = (_read: unknown, at: Place) => at.requireOne('jwks', 'jwks_uri')
const what = '{ issuer, jwks } or { issuer, jwks_uri }'

/** Default none. @param reason of the refusal while the keys are unavailable. */
export function trustedIssuers(reason: KeysReason): Field<ReadonlyMap<string, KeySource>> {
  const trusted = rows(group(row(reason), { check }), what)
  return (given, at, name) => keysOf(trusted(given, at, name), at, name)
}

/** Default none. @param reason of the refusal while the keys are unavailable. */
export function plainIssuers(reason: KeysReason): Field<PlainIssuers> {
  const plain = rows(group({ ...row(reason), repeatable: aFlag(false) }, { check }), what)
  return (given, at, name) => {
    const listed = plain(given, at, name)
    const repeatable = new Set(listed.flatMap((each) => (each.repeatable ? [each.issuer] : [])))
    return { keys: keysOf(listed, at, name), repeatable }
  }
}

function keysOf(
  listed: readonly Read<ReturnType<typeof row>>[],
  at: Place,
  name: string,
): ReadonlyMap<string, KeySource> {
  const issuers = new Map<string, KeySource>()
  for (const [index, { issuer, jwks, jwks_uri }] of listed.entries()) {
    if (issuers.has(issuer))
      at.wrong(`${name}[${index}].issuer`, `is "${issuer}", which is in the list already.`)
    issuers.set(issuer, jwks ?? jwks_uri ?? new KeySet([]))
  }
  return issuers
}
