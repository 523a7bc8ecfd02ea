import type { webcrypto } from 'node:crypto'
import { safeUrl } from '../protocol/uri'
import type { Field } from '../primitives/schema'
import { boundedText, isRecord } from '../primitives/values'
import { BoundedMap } from '../primitives/maps'
import { digest } from '../protocol/credential'
import { loadJose } from './jose'
import { parsePublicKeys, type PublicKey } from './public-keys'

/** `now` is in seconds since the epoch. */
export interface KeySource {
  /**
   * Without a request; undefined if the set must be fetched. The same object until the issuer changes its
   * keys.
   */
  trusted(now: number): KeySet | undefined
  /**
   * Repeats the last result for 10 seconds, to spare the issuer.
   *
   * @throws KeysUnavailable
   */
  fetched(now: number): Promise<KeySet>
  /**
   * Stands in after a failed fetch. Its keys may prove a JWT; a key that it lacks says nothing, because the
   * issuer may have changed its keys.
   */
  heldAfter?(failure: unknown, now: number): KeySet | undefined
  /**
   * How many fetches have begun. Default: each result of `fetched` is of a fetch that began after the call.
   */
  readonly begun?: number
  /**
   * Requires that a fetch has ended which began after the first JWT with this key came: before, the issuer
   * may have begun to use it.
   *
   * @param begun the fetches that had begun when the JWT came.
   * @throws KeysUnavailable
   */
  requireLaterFetch?(kid: unknown, begun: number, now: number): void
}

export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
  readonly headers: Readonly<Record<string, string>>

  constructor(message: string, options: ErrorOptions, seconds?: number) {
    super(message, options)
    this.headers = seconds === undefined ? {} : { 'Retry-After': String(seconds) }
  }
}

export function givenKeys(keys: readonly PublicKey[]): KeySource {
  const set = new KeySet(keys)
  return { trusted: () => set, fetched: async () => set }
}

/** What finds the key: `alg` and, unproven, `kid`. */
export interface Header {
  readonly alg: string
  readonly [name: string]: unknown
}

interface FoundKey {
  readonly key: webcrypto.CryptoKey
  readonly keySet: KeySet
}

/** Undefined if no key fits. @throws JOSEError if several do. */
export async function findKey(source: KeySource, header: Header, now: number): Promise<FoundKey | undefined> {
  const { begun = 0 } = source
  const within = async (keySet: KeySet) => {
    const key = await keySet.find(header)
    return key && { key, keySet }
  }
  const trusted = source.trusted(now)
  const known = trusted && (await within(trusted))
  if (known !== undefined) return known
  let found: FoundKey | undefined
  try {
    // The issuer may have changed its keys since the last fetch.
    found = await within(await source.fetched(now))
  } catch (failure) {
    const held = trusted === undefined ? source.heldAfter?.(failure, now) : undefined
    const inHeld = held && (await within(held).catch(() => undefined))
    if (inHeld === undefined) throw failure
    return inHeld
  }
  if (found === undefined) source.requireLaterFetch?.(header['kid'], begun, now)
  return found
}

/** An issuer that changes its keys gets another object. Without `trust`, it is trusted always. */
export class KeySet {
  private lookup: ((header: Header) => Promise<webcrypto.CryptoKey>) | undefined
  private trustedFrom = -Infinity
  private trustedUntil = Infinity

  constructor(private readonly keys: readonly PublicKey[]) {}

  isTrusted(now: number): boolean {
    return this.trustedFrom <= now && now < this.trustedUntil
  }

  /** @param seconds 0 once the issuer has other keys. */
  trust(now: number, seconds: number): void {
    this.trustedFrom = now
    this.trustedUntil = now + seconds
  }

  async find(header: Header): Promise<webcrypto.CryptoKey | undefined> {
    const { createLocalJWKSet, errors } = await loadJose()
    this.lookup ??= createLocalJWKSet({ keys: [...this.keys] })
    return this.lookup(header).catch((error: unknown) => {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined
      throw error
    })
  }

  without(others: readonly PublicKey[]): readonly (string | undefined)[] {
    return this.keys.map(({ kid }) => kid).filter((kid) => !others.some((other) => other.kid === kid))
  }

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

interface PublishedDocument {
  readonly json: unknown
  readonly maximumAge: number
}

type FetchDocument = (uri: string) => Promise<PublishedDocument>

/** Seconds between fetches: a withdrawn key stays trusted for this long at most. */
const maximumAge = 600
/** Least seconds between the starts of two fetches, also after a failure. */
const pause = 10
// An issuer has few keys. Who names more unknown ones makes the others wait for another fetch.
const unknownAtMost = 10_000
/** Seconds for one fetch. Less than the pause, so two fetches do not overlap. */
const patience = 5
/** Bytes. */
const maximumSize = 256 * 1024

/** Times in the future do not count as recent: a clock that was ahead left them. */
export const isWithin = (seconds: number, since: number, now: number): boolean =>
  since <= now && now < since + seconds

/**
 * RFC 7517 5. The function of jose fetches again for each request while an issuer is down, reads without a
 * bound, and uses its own clock.
 */
export class FetchedKeys implements KeySource {
  private last: { readonly keySet: KeySet; readonly at: number } | undefined
  // No SingleFlight: an attempt repeats its result for 10 seconds, also when settled.
  private attempt: { readonly keySet: Promise<KeySet>; readonly at: number } | undefined
  begun = 0
  private ended = 0
  /** By `kid`: the fetches that had begun when the first JWT with an unknown key came. */
  private readonly unknown = new BoundedMap<number>(unknownAtMost)

  constructor(
    private readonly uri: string,
    private readonly fetchDocument: FetchDocument = fetchTrusted,
  ) {}

  trusted(now: number): KeySet | undefined {
    return this.last?.keySet.isTrusted(now) === true ? this.last.keySet : undefined
  }

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

  fetchedWithin(seconds: number, now: number): KeySet | undefined {
    const { last } = this
    return last !== undefined && isWithin(seconds, last.at, now) ? last.keySet : undefined
  }

  hasAttempt(now: number): boolean {
    return this.attempt !== undefined && isWithin(pause, this.attempt.at, now)
  }

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
    if (former !== keySet) former?.trust(now, 0)
    keySet.trust(now, document.maximumAge)
    this.last = { keySet, at: now }
    this.ended = number
    return keySet
  }
}

// No refusal: a missing key says nothing about the JWT, which may be good.
function unavailable(cause: unknown): never {
  throw new KeysUnavailable('The keys of the issuer are unavailable.', { cause })
}

async function fetchTrusted(uri: string): Promise<PublishedDocument> {
  const response = await fetch(uri, {
    headers: { Accept: 'application/jwk-set+json, application/json' },
    // No redirect: the host trusts this URI only, not another host or plain HTTP.
    redirect: 'error',
    signal: AbortSignal.timeout(patience * 1000),
  })
  if (response.status !== 200 || response.body === null)
    throw new Error(`${uri} responded with status ${response.status}.`)
  return { json: JSON.parse(await boundedText(response.body, maximumSize, uri)), maximumAge }
}

export const keySet: Field<KeySource> = (given, at, name) => {
  const { keys, problems } = parsePublicKeys(given) ?? { keys: [], problems: [] }
  for (const { index, message } of problems) at.wrong(`${name}.keys[${index}]`, message)
  if (keys.length === 0 && problems.length === 0)
    at.wrong(name, `must be a JWK set with a public key for signatures${hint(given)}.`)
  return givenKeys(keys)
}

const hint = (jwks: unknown): string => (isRecord(jwks) && !('keys' in jwks) ? ': { keys: [...] }' : '')

export const keysAt: Field<KeySource> = (given, at, name) => {
  const uri = safeUrl(given, at, name)
  return uri === undefined ? givenKeys([]) : new FetchedKeys(uri)
}
