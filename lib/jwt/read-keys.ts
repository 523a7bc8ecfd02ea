import { isRecord, isText, type OptionsReader } from '../protocol/configuration'
import { hasUriCharacters, isLoopback } from '../protocol/uri'
import { FetchedKeys } from './fetched-keys'
import { givenKeys, type KeySource } from './key-source'
import { parsePublicKeys } from './public-keys'

/** What the two options are called: a JWK set that is given, and the URI of one that is published. */
interface KeyOptions {
  readonly given: string
  readonly published: string
}

/** Reads where the keys of an issuer come from; what it returns after a mistake is a placeholder. */
export function readKeys(reading: OptionsReader, { given, published }: KeyOptions): KeySource {
  const keys = reading.take(given)
  const uri = reading.take(published)
  if ((keys === undefined) === (uri === undefined))
    reading.wrong(given, `or ${published} must be given, and not both.`)
  else if (uri === undefined) return readKeySet(reading, given, keys)
  else if (isText(uri) && isSafeUri(uri)) return new FetchedKeys(uri)
  else
    reading.wrong(
      published,
      'must be an https URL, or an http one on a loopback host, without user name, password and fragment.',
    )
  return givenKeys([])
}

function readKeySet(reading: OptionsReader, name: string, value: unknown): KeySource {
  const { keys, problems } = parsePublicKeys(value) ?? { keys: [], problems: [] }
  for (const { index, message } of problems) reading.wrong(`${name}.keys[${index}]`, message)
  if (keys.length === 0 && problems.length === 0)
    reading.wrong(name, `must be a JWK set with a public key for signatures${hint(value)}.`)
  return givenKeys(keys)
}

const hint = (jwks: unknown): string => (isRecord(jwks) && !('keys' in jwks) ? ': { keys: [...] }' : '')

function isSafeUri(uri: string): boolean {
  if (!hasUriCharacters(uri) || !URL.canParse(uri) || uri.includes('#')) return false
  const { protocol, hostname, username, password } = new URL(uri)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
