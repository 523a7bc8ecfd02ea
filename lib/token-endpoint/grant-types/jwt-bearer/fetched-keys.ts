import { temporarilyUnavailable } from '../../../protocol/oauth-error'
import type { Header, KeyLookup, KeySource } from './key-source'
import type { Jose } from './load-jose'
import { parsePublicKeys } from './public-keys'

/** After so many seconds a set is fetched anew: so long a key that its issuer took out is still trusted. */
export const maximumAge = 600
/** Seconds between the beginnings of two fetches, also when the first failed, whatever requests ask for. */
export const pause = 10
/** Seconds that one fetch may take; less than the pause, so that two never overlap. */
const patience = 5
/** Bytes. */
export const maximumSize = 256 * 1024

/**
 * The keys that an issuer publishes (RFC 7517 5), kept for a while. jose has the like of it, but that one fetches anew
 * for each request while an issuer is down, reads without a bound, and has a clock of its own.
 */
export class FetchedKeys implements KeySource {
  private kept: { readonly lookup: KeyLookup; readonly at: number } | undefined
  private attempt: { readonly lookup: Promise<KeyLookup>; readonly at: number } | undefined

  constructor(private readonly uri: string) {}

  async find(jose: Jose, header: Header | undefined, now: number): ReturnType<KeyLookup> {
    const { kept } = this
    const lookup =
      kept !== undefined && now < kept.at + maximumAge ? kept.lookup : await this.fetched(jose, now)
    try {
      return await lookup(header)
    } catch (error) {
      if (!(error instanceof jose.errors.JWKSNoMatchingKey)) throw error
      // The issuer may have changed its keys since.
      return (await this.fetched(jose, now))(header)
    }
  }

  /** What the last fetch brought, or failed with; a new one when the last is long enough ago. */
  private fetched(jose: Jose, now: number): Promise<KeyLookup> {
    if (this.attempt !== undefined && now < this.attempt.at + pause) return this.attempt.lookup
    const lookup = this.fetch(jose, now)
    this.attempt = { lookup, at: now }
    return lookup
  }

  private async fetch(jose: Jose, now: number): Promise<KeyLookup> {
    const keys = parsePublicKeys(await fetchJson(this.uri).catch(unavailable))?.keys
    if (keys === undefined) return unavailable(new Error(`There is no JWK set at ${this.uri}.`))
    const lookup = jose.createLocalJWKSet({ keys: [...keys] })
    this.kept = { lookup, at: now }
    return lookup
  }
}

// The assertion may be good: the client shall not throw it away.
function unavailable(cause: unknown): never {
  throw temporarilyUnavailable(
    'assertion_keys_unavailable',
    'The keys of the issuer of the assertion cannot be had.',
    { cause },
  )
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
