import { KeySet } from './key-set'
import { KeysUnavailable, type KeySource } from './key-source'
import { parsePublicKeys } from './public-keys'

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
