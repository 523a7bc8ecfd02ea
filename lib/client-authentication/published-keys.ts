import type { DocumentFetch, DocumentInquiry } from '../clients/document-fetch/document-fetch'
import { isUnanswered } from '../clients/document-fetch/document-unavailable'
import type { FetchedDocument } from '../clients/document-fetch/request-document'
import { FetchedKeys, type KeySource, KeysUnavailable } from '../jwt/key-source'
import { BoundedMap } from '../primitives/maps'
import { type Client, isRegisteredByHost } from '../protocol/client'
import { isList, isRecord } from '../primitives/values'
import { Throttled } from '../protocol/oauth-error'
import type { Sender } from '../protocol/sender'

const publishedAtMost = 1000
const keysAtMost = 32
// Bytes: a dozen keys with certificates.
const largestKeySet = 64 * 1024
/** Seconds. Shorter than for a document: a client withdraws a stolen key. */
const longestHeld = 3600

/** Evicts the least recently used, among registered clients or among others. */
export class PublishedKeys {
  private readonly named = new BoundedMap<FetchedKeys>(publishedAtMost)
  private readonly others = new BoundedMap<FetchedKeys>(publishedAtMost)

  constructor(private readonly documents: DocumentFetch) {}

  of(client: Client, uri: string, sender: Sender | undefined): KeySource {
    const sets = isRegisteredByHost(client) ? this.named : this.others
    const keys = sets.get(uri) ?? new FetchedKeys(uri)
    sets.put(uri, keys)
    return {
      trusted: (now) => keys.trusted(now),
      fetched: async (now) => {
        if (sender?.networkRefusal !== undefined && !keys.hasAttempt(now))
          throw new KeysUnavailable('This network causes no fetch.', { cause: sender.networkRefusal })
        return this.fetched(keys, isRegisteredByHost(client) ? {} : { sender }, now)
      },
      heldAfter: (failure, now) => (isPrevented(failure) ? keys.fetchedWithin(longestHeld, now) : undefined),
    }
  }

  private async fetched(keys: FetchedKeys, inquiry: DocumentInquiry, now: number) {
    try {
      return await keys.fetched(now, (uri) => fetchKeys(uri, this.documents, inquiry))
    } catch (error) {
      // Without an answer, other senders have nothing to repeat.
      if (isPrevented(error)) keys.forgetAttempt()
      throw error
    }
  }
}

// Others may exhaust limits, or silence a network. They must not lock out the client.
const isPrevented = (failure: unknown): boolean =>
  failure instanceof KeysUnavailable && (failure.cause instanceof Throttled || isUnanswered(failure.cause))

// A P-521 key takes up to two milliseconds: a stranger's hundreds of keys must not hold up the process.
async function fetchKeys(
  uri: string,
  documents: DocumentFetch,
  inquiry: DocumentInquiry,
): Promise<FetchedDocument> {
  const document = await documents.fetch(uri, largestKeySet, inquiry)
  const keys = isRecord(document.json) ? document.json['keys'] : undefined
  if (isList(keys) && keys.length > keysAtMost)
    throw new Error(`A client publishes more than ${keysAtMost} keys.`)
  return document
}
