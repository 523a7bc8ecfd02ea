import type { KeySource } from '../../../jwt/key-source'
import { readKeys } from '../../../jwt/read-keys'
import { isText, OptionsReader } from '../../../protocol/configuration'

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
