import { isRecord, isText, type OptionsReader } from '../protocol/configuration'
import { hasUriCharacters, isLoopback } from '../protocol/uri'
import type { Header, Jose, KeyLookup, VerificationKey } from './jose'
import { parsePublicKeys, type PublicKey } from './public-keys'

/** Where the keys of one issuer come from. */
export interface KeySource {
  /**
   * The set that counts right now, without asking anybody; undefined when it must be fetched. As long as the issuer does
   * not change its keys it is the same object.
   *
   * @param now seconds since the epoch.
   */
  trusted(now: number): KeySet | undefined
  /**
   * What the issuer publishes now, or published within a pause that spares it.
   *
   * @throws KeysUnavailable
   */
  fetched(now: number): Promise<KeySet>
}

/** The keys of an issuer cannot be had; the cause says why. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

/** Keys that the configuration holds. */
export function givenKeys(keys: readonly PublicKey[]): KeySource {
  const set = new KeySet(keys)
  return { trusted: () => set, fetched: async () => set }
}

/** A key, and the set that vouches for it. */
export interface FoundKey {
  readonly key: VerificationKey
  readonly keySet: KeySet
}

/**
 * The key of the issuer that a header calls for.
 *
 * @throws KeysUnavailable
 * @throws JOSEError when the issuer has no such key, or several.
 */
export async function findKey(
  jose: Jose,
  source: KeySource,
  header: Header | undefined,
  now: number,
): Promise<FoundKey> {
  const keySet = source.trusted(now) ?? (await source.fetched(now))
  try {
    return { key: await keySet.find(jose, header), keySet }
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw error
    // The issuer may have changed its keys since.
    const newer = await source.fetched(now)
    return { key: await newer.find(jose, header), keySet: newer }
  }
}

/** Public keys of one issuer. An issuer that changes them has another set. */
export class KeySet {
  private lookup: KeyLookup | undefined

  constructor(private readonly keys: readonly PublicKey[]) {}

  /** The key that a header calls for, by `alg` and `kid`. @throws JOSEError when not exactly one fits. */
  find(jose: Jose, header: Header | undefined): Promise<VerificationKey> {
    this.lookup ??= jose.createLocalJWKSet({ keys: [...this.keys] })
    return this.lookup(header)
  }

  /** Whether it holds these keys and no other, in any order. */
  holds(keys: readonly PublicKey[]): boolean {
    return textOf(keys) === textOf(this.keys)
  }
}

const textOf = (keys: readonly PublicKey[]): string =>
  keys
    .map((key) => JSON.stringify(key))
    .toSorted()
    .join('\n')

/** After so many seconds a set is fetched anew: so long a key that its issuer took out is still trusted. */
export const maximumAge = 600
/** Seconds between the beginnings of two fetches, also when the first failed, whatever requests ask for. */
export const pause = 10
/** Seconds that one fetch may take; less than the pause, so that two never overlap. */
const patience = 5
/** Bytes. */
export const maximumSize = 256 * 1024

// A clock that was ahead and is set right leaves times in the future, which are not fresh.
const isWithin = (seconds: number, since: number, now: number) => since <= now && now < since + seconds

/**
 * The keys that an issuer publishes (RFC 7517 5), kept for a while. jose has the like of it, but that one fetches anew
 * for each request while an issuer is down, reads without a bound, and has a clock of its own.
 */
export class FetchedKeys implements KeySource {
  private kept: { readonly keySet: KeySet; readonly at: number } | undefined
  private attempt: { readonly keySet: Promise<KeySet>; readonly at: number } | undefined

  constructor(private readonly uri: string) {}

  trusted(now: number): KeySet | undefined {
    return this.kept !== undefined && isWithin(maximumAge, this.kept.at, now) ? this.kept.keySet : undefined
  }

  /** What the last fetch brought, or failed with; a new one when the last is long enough ago. */
  fetched(now: number): Promise<KeySet> {
    if (this.attempt !== undefined && isWithin(pause, this.attempt.at, now)) return this.attempt.keySet
    const keySet = this.fetch(now)
    this.attempt = { keySet, at: now }
    return keySet
  }

  private async fetch(now: number): Promise<KeySet> {
    const keys = parsePublicKeys(await fetchJson(this.uri).catch(unavailable))?.keys
    if (keys === undefined) return unavailable(new Error(`There is no JWK set at ${this.uri}.`))
    const keySet = this.kept?.keySet.holds(keys) === true ? this.kept.keySet : new KeySet(keys)
    this.kept = { keySet, at: now }
    return keySet
  }
}

// What they would verify may be good: nobody shall throw it away.
function unavailable(cause: unknown): never {
  throw new KeysUnavailable('The keys of the issuer cannot be had.', { cause })
}

async function fetchJson(uri: string): Promise<unknown> {
  const response = await fetch(uri, {
    headers: { Accept: 'application/jwk-set+json, application/json' },
    // Trust is in this URI: another host, or plain HTTP, must not take its place.
    redirect: 'error',
    signal: AbortSignal.timeout(patience * 1000),
  })
  if (response.status !== 200 || response.body === null)
    throw new Error(`${uri} answers with status ${response.status}.`)
  return JSON.parse(await boundedText(response.body, uri))
}

async function boundedText(body: ReadableStream<Uint8Array>, uri: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maximumSize) throw new Error(`${uri} answers with more than ${maximumSize} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

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
