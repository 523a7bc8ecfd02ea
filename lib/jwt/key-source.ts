import type { webcrypto } from 'node:crypto'
import type * as jose from 'jose' with { 'resolution-mode': 'import' }
import { digest } from '../protocol/credential'
import type { OAuthError } from '../protocol/oauth-error'
import { BoundedMap } from '../primitives/maps'
import { boundedText } from '../primitives/values'
import { parsePublicKeys, type PublicKey } from './public-keys'

export type Jose = typeof jose

let loading: Promise<Jose> | undefined

/** An ES module: every supported Node loads it by `import()`. */
export const loadJose = (): Promise<Jose> => (loading ??= import('jose'))

/** `alg` and, unproven, `kid`. */
interface Header {
  readonly alg: string
  readonly [name: string]: unknown
}

interface FoundKey {
  readonly key: webcrypto.CryptoKey
  readonly keySet: KeySet
}

export interface KeySource {
  /**
   * Undefined if no key fits. Without a header, only makes sure that there are keys.
   *
   * @throws OAuthError if the keys are unavailable, which says nothing about the JWT; JOSEError if several
   * fit.
   */
  find(now: number, header?: Header): Promise<FoundKey | undefined>
}

/** Another object once the issuer changes its keys. Without `trust`, trusted always. */
export class KeySet implements KeySource {
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

  async find(_now: number, header?: Header): Promise<FoundKey | undefined> {
    if (header === undefined) return undefined
    const { createLocalJWKSet, errors } = await loadJose()
    this.lookup ??= createLocalJWKSet({ keys: [...this.keys] })
    try {
      return { key: await this.lookup(header), keySet: this }
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined
      throw error
    }
  }

  /** The same object for the same keys; else the former one is trusted no longer. */
  static following(
    former: KeySet | undefined,
    keys: readonly PublicKey[],
    now: number,
    seconds: number,
  ): KeySet {
    const keySet = former !== undefined && textOf(keys) === textOf(former.keys) ? former : new KeySet(keys)
    former?.trust(now, 0)
    keySet.trust(now, seconds)
    return keySet
  }

  without(others: readonly PublicKey[]): readonly (string | undefined)[] {
    return this.keys.map(({ kid }) => kid).filter((kid) => !others.some((other) => other.kid === kid))
  }
}

/**
 * @param read throws OAuthError if the keys are unavailable.
 * @param standIn after a failure. A key that it lacks says nothing: the issuer may have changed its keys.
 */
export async function findKey(
  trusted: KeySet | undefined,
  read: () => Promise<KeySet>,
  standIn: () => KeySet | undefined,
  now: number,
  header: Header | undefined,
): Promise<FoundKey | undefined> {
  const known = await trusted?.find(now, header)
  if (known !== undefined || (trusted !== undefined && header === undefined)) return known
  let current: KeySet
  try {
    current = await read()
  } catch (failure) {
    const held = trusted === undefined ? standIn() : undefined
    const found = await held?.find(now, header).catch(() => undefined)
    if (found === undefined) throw failure
    return found
  }
  return current.find(now, header)
}

const textOf = (keys: readonly PublicKey[]): string =>
  keys
    .map((key) => JSON.stringify(key))
    .toSorted()
    .join('\n')

// Anyone can write a `kid`, of any length.
const nameOf = (kid: unknown): string => digest(JSON.stringify(kid ?? null))

/** A throw, in place of a rejection, begins no fetch. */
type FetchDocument = (uri: string) => Promise<{ readonly json: unknown; readonly maximumAge: number }>

interface FetchTerms {
  /** @param seconds until the next fetch, if that may help. */
  readonly unavailable: (cause: unknown, seconds?: number) => OAuthError
  /**
   * For the keys of a client: whether others could cause the failure, by exhausted limits or a silenced
   * network. They must not lock it out. Undefined for an issuer.
   */
  readonly isPrevented?: (cause: unknown) => boolean
}

/** Seconds between fetches: a withdrawn key stays trusted for this long at most. */
const maximumAge = 600
/** Seconds for which keys stand in: a client may withdraw a stolen one. */
export const longestHeld = 3600
/** Least seconds between the starts of two fetches, also after a failure. */
export const pause = 10
// Who names more unknown keys makes the others wait for another fetch.
const unknownAtMost = 10_000
/** Seconds for one fetch: less than the pause, so two do not overlap. */
const patience = 5
/** Bytes. */
const maximumSize = 256 * 1024

/** Not in the future: a clock was ahead. */
export const isWithin = (seconds: number, since: number, now: number): boolean =>
  since <= now && now < since + seconds

/** RFC 7517 5. That of jose fetches for each request while an issuer is down, and without a bound. */
export class FetchedKeys implements KeySource {
  private last: { readonly keySet: KeySet; readonly at: number } | undefined
  // No SingleFlight: an attempt repeats its result for 10 seconds, also when settled.
  private attempt: { readonly keySet: Promise<KeySet>; readonly at: number } | undefined
  private begun = 0
  private ended = 0
  /** By `kid`: the fetches begun when its first JWT came. */
  private readonly unknown = new BoundedMap<number>(unknownAtMost)

  constructor(
    private readonly uri: string,
    private readonly terms: FetchTerms,
  ) {}

  async find(now: number, header?: Header, fetchDocument = fetchTrusted): Promise<FoundKey | undefined> {
    const { begun, last } = this
    const { unavailable, isPrevented } = this.terms
    let mayStandIn = false
    const read = async () => {
      try {
        return await this.fetched(now, fetchDocument)
      } catch (cause) {
        mayStandIn = isPrevented?.(cause) === true
        // Without an answer, other senders have nothing to repeat.
        if (mayStandIn) this.attempt = undefined
        throw unavailable(cause)
      }
    }
    const standIn = () =>
      mayStandIn && last !== undefined && isWithin(longestHeld, last.at, now) ? last.keySet : undefined
    const trusted = last?.keySet.isTrusted(now) === true ? last.keySet : undefined
    const found = await findKey(trusted, read, standIn, now, header)
    const isUnknown = found === undefined && header !== undefined
    if (isUnknown && isPrevented === undefined) this.requireLaterFetch(header['kid'], begun, now)
    return found
  }

  /** A fetch must have begun after the first JWT with this key came: the issuer may be using it since. */
  private requireLaterFetch(kid: unknown, begun: number, now: number): void {
    const name = nameOf(kid)
    const first = this.unknown.get(name) ?? begun
    this.unknown.set(name, first)
    if (first < this.ended) return
    const cause = new Error('The keys of the issuer were fetched before the JWT with this key came.')
    const next = (this.attempt?.at ?? now) + pause
    throw this.terms.unavailable(cause, Math.max(1, Math.ceil(next - now)))
  }

  private fetched(now: number, fetchDocument: FetchDocument): Promise<KeySet> {
    if (this.attempt !== undefined && isWithin(pause, this.attempt.at, now)) return this.attempt.keySet
    const keySet = this.keysIn(fetchDocument(this.uri), now)
    this.attempt = { keySet, at: now }
    return keySet
  }

  private async keysIn(fetching: ReturnType<FetchDocument>, now: number): Promise<KeySet> {
    const number = ++this.begun
    const { json, maximumAge: seconds } = await fetching
    const keys = parsePublicKeys(json)?.keys
    if (keys === undefined) throw new Error(`There is no JWK set at ${this.uri}.`)
    const former = this.last?.keySet
    const keySet = KeySet.following(former, keys, now, seconds)
    // A withdrawn key is no new one.
    for (const kid of former?.without(keys) ?? []) this.unknown.set(nameOf(kid), number - 1)
    this.last = { keySet, at: now }
    this.ended = number
    return keySet
  }
}

const fetchTrusted: FetchDocument = async (uri) => {
  const response = await fetch(uri, {
    headers: { Accept: 'application/jwk-set+json, application/json' },
    // The host trusts this URI only.
    redirect: 'error',
    signal: AbortSignal.timeout(patience * 1000),
  })
  if (response.status !== 200 || response.body === null)
    throw new Error(`${uri} responded with status ${response.status}.`)
  return { json: JSON.parse(await boundedText(response.body, maximumSize, uri)), maximumAge }
}
