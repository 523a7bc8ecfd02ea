import { isRecord, isText, Reading } from '../../../protocol/configuration'
import { hasUriCharacters, isLoopback } from '../../../protocol/uri'
import { FetchedKeys } from './fetched-keys'
import { givenKeys, type KeySource } from './key-source'
import { parsePublicKeys } from './public-keys'

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
export function readIssuers(reading: Reading): ReadonlyMap<string, KeySource> {
  const cure = 'must be a list of at least one { issuer, jwks } or { issuer, jwks_uri }.'
  const issuers = new Map<string, KeySource>()
  for (const [index, given] of reading.required('issuers', [], isFilledList, cure).entries()) {
    const entry = new Reading(given, `issuers[${index}]`, reading.mistakes)
    const issuer = entry.required('issuer', '', isText, 'must be the iss of its assertions.')
    if (issuers.has(issuer)) entry.wrong('issuer', `is "${issuer}", which is in the list already.`)
    issuers.set(issuer, readKeys(entry))
    entry.refuseUnknown()
  }
  return issuers
}

function readKeys(entry: Reading): KeySource {
  const jwks = entry.take('jwks')
  const uri = entry.take('jwks_uri')
  if ((jwks === undefined) === (uri === undefined))
    entry.wrong('jwks', 'or jwks_uri must be given, and not both.')
  else if (uri === undefined) return readKeySet(entry, jwks)
  else if (isText(uri) && isSafeUri(uri)) return new FetchedKeys(uri)
  else
    entry.wrong(
      'jwks_uri',
      'must be an https URL, or an http one on a loopback host, without user name, password and fragment.',
    )
  return givenKeys([])
}

function readKeySet(entry: Reading, jwks: unknown): KeySource {
  const { keys, problems } = parsePublicKeys(jwks) ?? { keys: [], problems: [] }
  for (const { index, problem } of problems) entry.wrong(`jwks.keys[${index}]`, problem)
  if (keys.length === 0 && problems.length === 0)
    entry.wrong('jwks', `must be a JWK set with a public key for signatures${hint(jwks)}.`)
  return givenKeys(keys)
}

const hint = (jwks: unknown): string => (isRecord(jwks) && !('keys' in jwks) ? ': { keys: [...] }' : '')

function isSafeUri(uri: string): boolean {
  if (!hasUriCharacters(uri) || !URL.canParse(uri) || uri.includes('#')) return false
  const { protocol, hostname, username, password } = new URL(uri)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

const isFilledList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0
