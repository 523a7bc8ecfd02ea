import { boundedText } from '../primitives/bounded-text'
import { BoundedMap } from '../primitives/bounded-map'
import { isRecord, isText, type OptionsReader } from '../primitives/options-reader'
import { digest } from '../protocol/credential'
import { isSafeUrl, safeUrlExpectation } from '../protocol/uri'
import type { Header, Jose, KeyLookup, VerificationKey } from './jose'
import { parsePublicKeys, type PublicKey } from './public-keys'

/** Provides the keys of one issuer. */
export interface KeySource {
  /**
   * Returns the current key set without a request; undefined if the set must be fetched. Returns the same object until
   * the issuer changes its keys.
   *
   * @param now seconds since the epoch.
   */
  trusted(now: number): KeySet | undefined
  /**
   * Fetches the key set of the issuer. Repeats the result of the last fetch for 10 seconds, to spare the issuer.
   *
   * @param now seconds since the epoch.
   * @throws KeysUnavailable if the fetch fails.
   */
  fetched(now: number): Promise<KeySet>
  /**
   * Returns a key set that may stand in after a failed fetch; undefined if there is none. Its keys may prove a JWT. A key
   * that it lacks says nothing, because the issuer may have changed its keys.
   *
   * @param now seconds since the epoch.
   */
  heldAfter?(failure: unknown, now: number): KeySet | undefined
  /** How many fetches have begun. Default: each result of `fetched` is of a fetch that began after the call. */
  readonly begun?: number
  /**
   * Requires that a fetch has ended which began after the first JWT with this key came. Before, the lack of the key says
   * nothing: the issuer may have begun to use it.
   *
   * @param kid the name of the key; undefined if the JWT names none.
   * @param begun the fetches that had begun when the JWT came.
   * @throws KeysUnavailable
   */
  requireLaterFetch?(kid: unknown, begun: number, now: number): void
}

/** The keys of an issuer are unavailable. `cause` holds the error. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
  /** The headers of the response. */
  readonly headers: Readonly<Record<string, string>>

  /** @param seconds when the keys may be available; undefined if nobody knows. */
  constructor(message: string, options: ErrorOptions, seconds?: number) {
    super(message, options)
    this.headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) }
  }
}

/** Makes a source of keys that the configuration holds. */
export function givenKeys(keys: readonly PublicKey[]): KeySource {
  const set = new KeySet(keys)
  return { trusted: () => set, fetched: async () => set }
}

/** A key, and the key set that contains the key. */
interface FoundKey {
  readonly key: VerificationKey
  readonly keySet: KeySet
}

/**
 * Finds the key of the issuer for a header, and fetches the key set if the current set has no such key.
 *
 * @param now seconds since the epoch.
 * @throws KeysUnavailable if a fetch fails, or if the set may have been fetched before the issuer had the key.
 * @throws JOSEError unless exactly one key fits.
 */
export async function findKey(
  jose: Jose,
  source: KeySource,
  header: Header | undefined,
  now: number,
): Promise<FoundKey> {
  const { begun } = source
  const keySet = source.trusted(now)
  if (keySet === undefined) return findHeldKey(jose, source, header, now, begun)
  try {
    return { key: await keySet.find(jose, header), keySet }
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw error
    // The issuer may have changed its keys since the last fetch.
    return findFetchedKey(jose, source, header, now, begun)
  }
}

async function findFetchedKey(
  jose: Jose,
  source: KeySource,
  header: Header | undefined,
  now: number,
  begun = 0,
): Promise<FoundKey> {
  const keySet = await source.fetched(now)
  try {
    return { key: await keySet.find(jose, header), keySet }
  } catch (error) {
    if (error instanceof jose.errors.JWKSNoMatchingKey)
      source.requireLaterFetch?.(header?.['kid'], begun, now)
    throw error
  }
}

async function findHeldKey(...given: Parameters<typeof findFetchedKey>): Promise<FoundKey> {
  const [jose, source, header, now] = given
  let failure: unknown
  try {
    return await findFetchedKey(...given)
  } catch (error) {
    failure = error
  }
  const held = source.heldAfter?.(failure, now)
  if (held === undefined) throw failure
  try {
    return { key: await held.find(jose, header), keySet: held }
  } catch {
    throw failure
  }
}

/** The public keys of one issuer. When the issuer changes its keys, another object takes the place of this one. */
export class KeySet {
  private lookup: KeyLookup | undefined

  constructor(private readonly keys: readonly PublicKey[]) {}

  /** Finds the key for a header, by `alg` and `kid`. @throws JOSEError unless exactly one key fits. */
  find(jose: Jose, header: Header | undefined): Promise<VerificationKey> {
    this.lookup ??= jose.createLocalJWKSet({ keys: [...this.keys] })
    return this.lookup(header)
  }

  /** The names of the keys of this set that are not among others. */
  without(others: readonly PublicKey[]): readonly (string | undefined)[] {
    return this.keys.map(({ kid }) => kid).filter((kid) => !others.some((other) => other.kid === kid))
  }

  /** Whether the set holds exactly these keys, in any order. */
  holds(keys: readonly PublicKey[]): boolean {
    return textOf(keys) === textOf(this.keys)
  }
}

const textOf = (keys: readonly PublicKey[]): string =>
  keys
    .map((key) => JSON.stringify(key))
    .toSorted()
    .join('\n')

// Anyone can write a `kid`, of any length.
const nameOf = (kid: unknown): string => digest(JSON.stringify(kid ?? null))

/** A JSON document, and the seconds for which it stays good. */
interface PublishedDocument {
  readonly json: unknown
  readonly maximumAge: number
}

/** Fetches a JSON document from a URI. Rejects if the document is unavailable. */
type FetchDocument = (uri: string) => Promise<PublishedDocument>

/**
 * Seconds after which the key set of an issuer of the configuration is fetched again. A withdrawn key stays trusted for
 * this time at most.
 */
const maximumAge = 600
/**
 * The least number of seconds between the starts of two fetches, also after a failure and however many requests come.
 */
const pause = 10
// An issuer has few keys. Who names more unknown ones makes the others wait for another fetch.
const unknownAtMost = 10_000
/** Seconds that one fetch may take. Less than the pause, so two fetches do not overlap. */
const patience = 5
/** The largest size of a published key set, in bytes. */
const maximumSize = 256 * 1024

/**
 * Whether less than `seconds` have passed. A clock that was ahead leaves times in the future once it is corrected: these
 * do not count as recent.
 */
export const isWithin = (seconds: number, since: number, now: number): boolean =>
  since <= now && now < since + seconds

/**
 * Fetches the keys that an issuer publishes (RFC 7517 5), and keeps them as long as the document is good. The similar
 * function of jose does not suffice: it fetches again for each request while an issuer is down, reads without a bound,
 * and uses its own clock.
 */
export class FetchedKeys implements KeySource {
  private last: { readonly keySet: KeySet; readonly at: number; readonly maximumAge: number } | undefined
  // No SingleFlight: an attempt repeats its result for 10 seconds, also after it has settled.
  private attempt: { readonly keySet: Promise<KeySet>; readonly at: number } | undefined
  begun = 0
  /** The number of the last fetch that has ended well. */
  private ended = 0
  /** The fetches that had begun when the first JWT with an unknown key came, by its `kid`. */
  private readonly unknown = new BoundedMap<number>(unknownAtMost)

  /** @param fetchDocument default: trusts the URI, and keeps the keys for 600 seconds. */
  constructor(
    private readonly uri: string,
    private readonly fetchDocument: FetchDocument = fetchTrusted,
  ) {}

  trusted(now: number): KeySet | undefined {
    const { last } = this
    return last !== undefined && isWithin(last.maximumAge, last.at, now) ? last.keySet : undefined
  }

  /** @param fetchDocument fetches for one call, in place of the usual function. */
  fetched(now: number, fetchDocument = this.fetchDocument): Promise<KeySet> {
    if (this.attempt !== undefined && this.hasAttempt(now)) return this.attempt.keySet
    const keySet = this.fetch(now, fetchDocument)
    this.attempt = { keySet, at: now }
    return keySet
  }

  requireLaterFetch(kid: unknown, begun: number, now: number): void {
    const name = nameOf(kid)
    const first = this.unknown.get(name) ?? begun
    this.unknown.put(name, first)
    if (first < this.ended) return
    const cause = new Error('The keys of the issuer were fetched before the JWT with this key came.')
    const next = (this.attempt?.at ?? now) + pause
    throw new KeysUnavailable('The key is not known yet.', { cause }, Math.max(1, Math.ceil(next - now)))
  }

  /** The key set of the last good fetch, if it is at most so many seconds old. */
  fetchedWithin(seconds: number, now: number): KeySet | undefined {
    const { last } = this
    return last !== undefined && isWithin(seconds, last.at, now) ? last.keySet : undefined
  }

  /** Whether a fetch was begun less than 10 seconds ago, whose result `fetched` repeats. */
  hasAttempt(now: number): boolean {
    return this.attempt !== undefined && isWithin(pause, this.attempt.at, now)
  }

  /** Lets the next call fetch again, after a fetch that sent no request. */
  forgetAttempt(): void {
    this.attempt = undefined
  }

  private async fetch(now: number, fetchDocument: FetchDocument): Promise<KeySet> {
    const number = ++this.begun
    const document = await fetchDocument(this.uri).catch(unavailable)
    const keys = parsePublicKeys(document.json)?.keys
    if (keys === undefined) return unavailable(new Error(`There is no JWK set at ${this.uri}.`))
    const former = this.last?.keySet
    const keySet = former?.holds(keys) === true ? former : new KeySet(keys)
    // A key that the issuer has withdrawn is no new one.
    for (const kid of former?.without(keys) ?? []) this.unknown.put(nameOf(kid), number - 1)
    this.last = { keySet, at: now, maximumAge: document.maximumAge }
    this.ended = number
    return keySet
  }
}

// A missing key says nothing about the JWT, which may be good. So this error is not a refusal.
function unavailable(cause: unknown): never {
  throw new KeysUnavailable('The keys of the issuer are unavailable.', { cause })
}

async function fetchTrusted(uri: string): Promise<PublishedDocument> {
  const response = await fetch(uri, {
    headers: { Accept: 'application/jwk-set+json, application/json' },
    // Follows no redirect: the host trusts this URI only, and not another host or plain HTTP.
    redirect: 'error',
    signal: AbortSignal.timeout(patience * 1000),
  })
  if (response.status !== 200 || response.body === null)
    throw new Error(`${uri} responded with status ${response.status}.`)
  return { json: JSON.parse(await boundedText(response.body, maximumSize, uri)), maximumAge }
}

/** The names of the two options for keys. */
interface KeyOptions {
  /** The option for a JWK set in the configuration. */
  readonly given: string
  /** The option for the URI of a published JWK set. */
  readonly published: string
}

/** Reads the option for the keys of an issuer. After a mistake in the options, returns a source without keys. */
export function readKeys(reading: OptionsReader, { given, published }: KeyOptions): KeySource {
  const keys = reading.take(given)
  const uri = reading.take(published)
  if ((keys === undefined) === (uri === undefined))
    reading.wrong(given, `or ${published} must be given, and not both.`)
  else if (uri === undefined) return readKeySet(reading, given, keys)
  else if (isText(uri) && isSafeUrl(uri)) return new FetchedKeys(uri)
  else reading.wrong(published, safeUrlExpectation)
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
