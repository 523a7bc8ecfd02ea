import { DocumentCache } from '../../../lib/clients/metadata-documents/document-cache'
import {
  DocumentUnavailable,
  type UnavailableReason,
} from '../../../lib/clients/document-fetch/document-unavailable'
import type { UrlTrust } from '../../../lib/clients/document-fetch/fetch-limits'
import { Throttled, UnusableClient } from '../../../lib/protocol/oauth-error'
import { digest } from '../../../lib/protocol/credential'
import { parseStoredClient, anyCapabilities } from '../../../lib/protocol/parse-client'
import type { Sender } from '../../../lib/protocol/sender'
import { memoryCache, type SharedCache } from '../../../lib/clients/shared-cache'
import { clientId, document, Documents } from '../../support/client-documents'

const url = { clientId, host: 'notes.example' }

function cacheWith({
  documents = new Documents(),
  time = { now: 1_000_000_000_000 },
  shared = memoryCache(() => time.now),
}: { documents?: Documents; time?: { now: number }; shared?: SharedCache } = {}) {
  const parse = (json: unknown) => {
    if (json === undefined || json === 'malformed')
      throw new UnusableClient(
        'temporarily_unavailable',
        'client_document_malformed',
        'Bad.',
        'invalid_request',
      )
    const { client_id, client_name, redirect_uris } = document
    const registration = { client_id, client_type: 'public', client_name, redirect_uris, scope: 'a' }
    return parseStoredClient(registration, anyCapabilities)
  }
  const cache = new DocumentCache({
    documents,
    sharedCache: shared,
    parse,
    clock: () => time.now,
    isNamed: (named) => named === 'https://named.example/client.json',
    longestLifetime: 30 * day,
  })
  return { cache, documents, time, shared }
}

// Seconds.
const day = 86_400
const keyOf = (clientIdOfDocument: string) => `client-document:${digest(clientIdOfDocument)}`

const senderAt = (address: string, networkRefusal?: Throttled): Sender => ({
  address: () => address,
  networkRefusal,
})

/** Documents of strangers, good ones, at any URL. */
const goodDocuments = () => {
  const documents = new Documents()
  documents.fetch = async (asked) => {
    documents.asked.push(asked)
    return { json: document, maximumAge: 60 }
  }
  return documents
}
const ofStranger = (at: number) => ({ clientId: `https://evil.example/${at}`, host: 'evil.example' })

describe('Metadata documents', () => {
  test('are fetched once within their time, and again after it', async () => {
    const { cache, documents, time } = cacheWith()
    const client = await cache.find(url)
    time.now += 59_999
    expect(cache.find(url)).toBe(client)
    expect(documents.asked).toEqual([clientId])
    time.now += 1
    await cache.find(url)
    expect(documents.asked).toHaveLength(2)
  })

  test('are fetched once for all processes', async () => {
    const first = cacheWith()
    await first.cache.find(url)
    const second = cacheWith({ shared: first.shared, time: first.time })
    await expect(second.cache.find(url)).resolves.toMatchObject({ client_id: clientId })
    expect(second.documents.asked).toEqual([])
  })

  test('expire in a second process when they expire in the first', async () => {
    const first = cacheWith()
    await first.cache.find(url)
    first.time.now += 59_000
    const second = cacheWith({ shared: first.shared, time: first.time })
    await second.cache.find(url)
    first.time.now += 1000
    await second.cache.find(url)
    expect(second.documents.asked).toEqual([clientId])
  })

  test('stay for a day at most, whatever the shared cache says', async () => {
    const expiresAt = Number.MAX_SAFE_INTEGER
    const text = JSON.stringify({ client_id: clientId, fetchedAt: 0, expiresAt, inUseUntil: 0, document })
    const { cache, documents, time } = cacheWith({ shared: { get: async () => text, set: async () => {} } })
    await cache.find(url)
    time.now += 86_400_000 - 1
    expect(cache.find(url)).not.toBeInstanceOf(Promise)
    expect(documents.asked).toEqual([])
    time.now += 1
    await cache.find(url)
    expect(documents.asked).toEqual([clientId])
  })

  test('are fetched once for requests at the same time', async () => {
    const { cache, documents } = cacheWith()
    await Promise.all(Array.from({ length: 64 }, async () => cache.find(url)))
    expect(documents.asked).toHaveLength(1)
  })

  test.each<[string, unknown]>([
    ['malformed', 'malformed'],
    ['not available', new DocumentUnavailable('status')],
  ])('are asked for again after one was %s [stranger-8]', async (_, answer) => {
    const kept: string[] = []
    const shared: SharedCache = { get: async () => undefined, set: async (key) => void kept.push(key) }
    const { cache, documents, time } = cacheWith({ shared })
    documents.answers.set(clientId, answer)
    await expect(cache.find(url)).rejects.toBeInstanceOf(UnusableClient)
    expect(kept).toEqual([])
    documents.answers.set(clientId, document)
    await expect(cacheWith({ shared, time }).cache.find(url)).resolves.toMatchObject({ client_id: clientId })
    await expect(cache.find(url)).resolves.toMatchObject({ client_id: clientId })
  })

  test('of one failure fail for all that wait, and for no later request', async () => {
    const { cache, documents } = cacheWith()
    documents.answers.set(clientId, new DocumentUnavailable('timeout'))
    const both = await Promise.allSettled([1, 2].map(async () => cache.find(url)))
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    documents.answers.set(clientId, document)
    await expect(cache.find(url)).resolves.toBeDefined()
    expect(documents.asked).toHaveLength(2)
  })

  test('are not asked for by a network over its limit, unless they are known', async () => {
    const { cache, documents, shared, time } = cacheWith()
    const refusal = new Throttled('rate_limited', 'Too many.', 7)
    const [refused, client] = await Promise.allSettled(
      [refusal, undefined].map(async (each) => cache.find(url, senderAt('192.0.2.1', each))),
    )
    expect(refused).toMatchObject({ status: 'rejected', reason: refusal })
    expect(client).toMatchObject({ status: 'fulfilled' })
    expect(documents.asked).toHaveLength(1)
    expect(cache.find(url, senderAt('192.0.2.1', refusal))).not.toBeInstanceOf(Promise)
    const other = cacheWith({ shared, time })
    await expect(other.cache.find(url, senderAt('192.0.2.1', refusal))).resolves.toMatchObject({
      client_id: clientId,
    })
    expect(other.documents.asked).toEqual([])
  })

  test.each<[UnavailableReason, string]>([
    ['limited', 'client_document_limited'],
    ['busy', 'client_document_limited'],
    ['timeout', 'client_document_unreachable'],
    ['dns_silent', 'client_document_unreachable'],
  ])(
    'stay usable for a day while a fetch fails by %s, which others can cause [stranger-10]',
    async (cause, reason) => {
      const { cache, documents, time } = cacheWith()
      const client = await cache.find(url)
      documents.answers.set(clientId, new DocumentUnavailable(cause))
      time.now += 86_400_000 - 1
      expect(await cache.find(url)).toBe(client)
      time.now += 1
      await expect(cache.find(url)).rejects.toMatchObject({ reason })
    },
  )

  test('stay usable for a network over its limit, and are not asked for', async () => {
    const { cache, documents, time } = cacheWith()
    const client = await cache.find(url)
    const refusal = new Throttled('rate_limited', 'Too many.', 7)
    time.now += day * 1000 - 1
    expect(await cache.find(url, senderAt('192.0.2.1', refusal))).toBe(client)
    time.now += 1
    await expect(cache.find(url, senderAt('192.0.2.1', refusal))).rejects.toBe(refusal)
    expect(documents.asked).toHaveLength(1)
  })

  test('stay usable for a day in a process that has just begun', async () => {
    const first = cacheWith()
    await first.cache.find(url)
    first.time.now += day * 1000 - 1
    const silent = new Documents(new Map([[clientId, new DocumentUnavailable('timeout')]]))
    const fresh = cacheWith({ shared: first.shared, time: first.time, documents: silent })
    await expect(fresh.cache.find(url)).resolves.toMatchObject({ client_id: clientId })
    first.time.now += 1
    await expect(fresh.cache.find(url)).rejects.toBeInstanceOf(UnusableClient)
  })

  test('that another process fetched in the future count as fetched now', async () => {
    const time = { now: 1_000_000_000_000 }
    const entry = { client_id: clientId, fetchedAt: 9e15, expiresAt: time.now + 1, inUseUntil: 0, document }
    const shared = { get: async () => JSON.stringify(entry), set: async () => {} }
    const { cache, documents } = cacheWith({ time, shared })
    const client = await cache.find(url)
    shared.get = async () => '{}'
    documents.answers.set(clientId, new DocumentUnavailable('limited'))
    time.now += day * 1000 - 1
    expect(await cache.find(url)).toBe(client)
    time.now += 1
    await expect(cache.find(url)).rejects.toBeInstanceOf(UnusableClient)
  })

  test('over the limit of one sender are asked for by another who came at the same time', async () => {
    const documents = new Documents()
    const asked: (string | undefined)[] = []
    documents.fetch = async (_url, _size, inquiry) => {
      const address = inquiry?.sender?.address()
      asked.push(address)
      if (address === '192.0.2.1') throw new DocumentUnavailable('limited')
      return { json: document, maximumAge: 60 }
    }
    const { cache } = cacheWith({ documents })
    const senders = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']
    const found = await Promise.allSettled(senders.map(async (each) => cache.find(url, senderAt(each))))
    expect(found.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled'])
    expect(asked).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test.each<[string, UrlTrust, (set: ReturnType<typeof cacheWith>) => Promise<unknown>]>([
    ['that anybody may have made up', 'unknown', async () => {}],
    ['that came before', 'known', async ({ cache }) => cache.find(url)],
    [
      'that came to another process',
      'known',
      async ({ shared, time }) => cacheWith({ shared, time }).cache.find(url),
    ],
    [
      'of a client with a token',
      'named',
      async ({ cache }) => {
        await cache.find(url)
        await cache.noteUse(clientId)
      },
    ],
    [
      'of a client with a token of another process',
      'named',
      async ({ shared, time }) => {
        const { cache } = cacheWith({ shared, time })
        await cache.find(url)
        await cache.noteUse(clientId)
      },
    ],
  ])('%s are fetched as %s', async (_, trust, before) => {
    const set = cacheWith()
    await before(set)
    set.time.now += 60_000
    const levels: unknown[] = []
    set.documents.fetch = async (_url, _size, inquiry) => {
      levels.push(inquiry?.trust)
      return { json: document, maximumAge: 60 }
    }
    await set.cache.find(url)
    expect(levels).toEqual([trust])
  })

  test('at a URL that the configuration names are fetched as named, and all with their longest size', async () => {
    const { cache, documents } = cacheWith()
    const levels: unknown[] = []
    documents.fetch = async (_url, size, inquiry) => {
      expect(size).toBe(5120)
      levels.push(inquiry?.trust)
      return { json: document, maximumAge: 60 }
    }
    await cache.find({ clientId: 'https://named.example/client.json', host: 'named.example' })
    await cache.find({ clientId: 'https://named.example/client.json?x', host: 'named.example' })
    expect(levels).toEqual(['named', 'unknown'])
  })

  test('do not stay usable after another failure', async () => {
    const { cache, documents, time } = cacheWith()
    await cache.find(url)
    time.now += 60_000
    for (const trouble of [
      'malformed',
      new DocumentUnavailable('status'),
      new DocumentUnavailable('connection'),
      new DocumentUnavailable('unresolved'),
    ]) {
      documents.answers.set(clientId, trouble)
      await expect(cache.find(url)).rejects.toBeInstanceOf(UnusableClient)
    }
  })

  test.each<[UnavailableReason, string]>([
    ['url', 'client_document_unreachable'],
    ['unresolved', 'client_document_unreachable'],
    ['dns_silent', 'client_document_unreachable'],
    ['address_forbidden', 'client_document_unreachable'],
    ['connection', 'client_document_unreachable'],
    ['timeout', 'client_document_unreachable'],
    ['status', 'client_document_refused'],
    ['type', 'client_document_refused'],
    ['encoding', 'client_document_refused'],
    ['size', 'client_document_refused'],
    ['malformed', 'client_document_refused'],
    ['limited', 'client_document_limited'],
    ['busy', 'client_document_limited'],
  ])('that fail by %s say so in the reason alone', async (cause, reason) => {
    const documents = new Documents(new Map([[clientId, new DocumentUnavailable(cause)]]))
    await expect(cacheWith({ documents }).cache.find(url)).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      pageCode: 'temporarily_unavailable',
      description: 'The metadata document of the client is not available.',
      reason,
    })
  })

  test('fail with a cause if the fetch of a host fails', async () => {
    const cause = new TypeError('The proxy is away.')
    const documents = new Documents(new Map([[clientId, cause]]))
    await expect(cacheWith({ documents }).cache.find(url)).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      reason: 'client_document_unreachable',
      cause,
    })
  })

  test.each([
    [0, 60],
    [59, 60],
    [61, 61],
    [86_400, 86_400],
    [86_401, 86_400],
    [Infinity, 86_400],
  ])('that a host says are good for %d seconds are kept for %d', async (maximumAge, kept) => {
    const { cache, documents, time } = cacheWith({ documents: new Documents(undefined, maximumAge) })
    await cache.find(url)
    time.now += kept * 1000 - 1
    expect(cache.find(url)).not.toBeInstanceOf(Promise)
    time.now += 1
    await cache.find(url)
    expect(documents.asked).toHaveLength(2)
  })

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    [
      'of another document',
      JSON.stringify({ client_id: `${clientId}x`, fetchedAt: 0, expiresAt: 9e15, inUseUntil: 0, document }),
    ],
    ['without an end', JSON.stringify({ client_id: clientId, fetchedAt: 0, inUseUntil: 0, document })],
    [
      'without a beginning',
      JSON.stringify({ client_id: clientId, expiresAt: 9e15, inUseUntil: 0, document }),
    ],
    ['without its use', JSON.stringify({ client_id: clientId, fetchedAt: 0, expiresAt: 9e15, document })],
    [
      'with an end that is no number',
      JSON.stringify({ client_id: clientId, fetchedAt: 0, expiresAt: '9e15', inUseUntil: 0, document }),
    ],
    [
      'that is over',
      JSON.stringify({
        client_id: clientId,
        fetchedAt: 0,
        expiresAt: 1_000_000_000_000,
        inUseUntil: 0,
        document,
      }),
    ],
    [
      'that is malformed here',
      JSON.stringify({
        client_id: clientId,
        fetchedAt: 0,
        expiresAt: 9e15,
        inUseUntil: 0,
        document: 'malformed',
      }),
    ],
  ])('are fetched if the shared cache has an entry %s', async (_, text) => {
    const { cache, documents } = cacheWith({ shared: { get: async () => text, set: async () => {} } })
    await expect(cache.find(url)).resolves.toBeDefined()
    expect(documents.asked).toEqual([clientId])
  })

  test('do not need the shared cache to keep them', async () => {
    const set = () => Promise.reject(new Error('full'))
    const { cache } = cacheWith({ shared: { get: async () => undefined, set } })
    await expect(cache.find(url)).resolves.toBeDefined()
  })

  test('are not fetched while the shared cache fails', async () => {
    const gone = new Error('gone')
    const { cache, documents } = cacheWith({
      shared: { get: () => Promise.reject(gone), set: async () => {} },
    })
    await expect(cache.find(url)).rejects.toBe(gone)
    expect(documents.asked).toEqual([])
  })

  test('that are in use stay in memory, however many strangers come once [stranger-10]', async () => {
    const documents = new Documents()
    const { cache } = cacheWith({ documents, shared: { get: async () => undefined, set: async () => {} } })
    const client = await cache.find(url)
    for (let at = 0; at < 2000; at++) {
      const stranger = `https://evil.example/${at}`
      documents.answers.set(stranger, document)
      await cache.find({ clientId: stranger, host: 'evil.example' })
      expect(cache.find(url)).toBe(client)
    }
    expect(documents.asked.filter((asked) => asked === clientId)).toHaveLength(1)
  })

  test('of a client with a token stay in memory, however many good documents others bring [stranger-10]', async () => {
    const documents = goodDocuments()
    const { cache } = cacheWith({ documents, shared: { get: async () => undefined, set: async () => {} } })
    const client = await cache.find(url)
    await cache.noteUse(clientId)
    for (let at = 0; at < 1500; at++) await cache.find(ofStranger(at))
    expect(cache.find(url)).toBe(client)
  })

  test('of a client with a token stay for all processes as long as it may live, others for a day [stranger-10]', async () => {
    const kept = new Map<string, number>()
    const texts = new Map<string, string>()
    const shared: SharedCache = {
      get: async (key) => texts.get(key),
      set: async (key, text, seconds) => {
        kept.set(text.startsWith(`{"client_id":"${clientId}"`) ? 'used' : 'unused', seconds)
        texts.set(key, text)
      },
    }
    const { cache, time } = cacheWith({ documents: goodDocuments(), shared })
    await cache.find(url)
    await cache.find(ofStranger(0))
    await cache.noteUse(clientId)
    expect([...kept]).toEqual([
      ['used', 32 * day],
      ['unused', day],
    ])
    // Once a day, and with each fetch.
    kept.clear()
    expect(cache.noteUse(clientId)).toBeUndefined()
    time.now += day * 1000
    await cache.noteUse(clientId)
    expect(kept.get('used')).toBe(32 * day)
    time.now += 30 * day * 1000
    await cache.find(url)
    expect(kept.get('used')).toBe(2 * day)
  })

  test('of a client stay in use if another process, or a fetch under way, did not know of the use', async () => {
    const first = cacheWith()
    await first.cache.find(url)
    first.time.now += 60_000
    first.documents.before = async () => first.cache.noteUse(clientId)
    await first.cache.find(url)
    first.documents.before = async () => {}
    const { shared, time } = first
    const entry = () => shared.get(keyOf(clientId)).then((text) => JSON.parse(text ?? '{}').inUseUntil)
    expect(await entry()).toBeGreaterThan(time.now)
    // Another process has read the document before the note, and writes after it.
    const text = (await shared.get(keyOf(clientId))) ?? ''
    const later = { ...JSON.parse(text), inUseUntil: 0, fetchedAt: time.now + 60_000, expiresAt: 9e15 }
    await shared.set(keyOf(clientId), JSON.stringify(later), day)
    time.now += 60_000
    await first.cache.find(url)
    expect(await entry()).toBeGreaterThan(time.now)
  })

  test('of a client whose use the cache did not keep are noted by the next use', async () => {
    let isFull = true
    const set = async () => (isFull ? Promise.reject(new Error('full')) : undefined)
    const { cache } = cacheWith({ shared: { get: async () => undefined, set } })
    await cache.find(url)
    await cache.noteUse(clientId)
    isFull = false
    expect(cache.noteUse(clientId)).toBeInstanceOf(Promise)
  })

  test('of strangers take a bounded number of keys, a quarter for one network, and push out none [stranger-11]', async () => {
    const keys = new Set<string>()
    const shared: SharedCache = { get: async () => undefined, set: async (key) => void keys.add(key) }
    const { cache, time } = cacheWith({ shared, documents: goodDocuments() })
    for (let at = 0; at < 1500; at++) await cache.find(ofStranger(at), senderAt('192.0.2.1'))
    expect(keys.size).toBe(1024)
    for (let at = 0; at < 6000; at++) await cache.find(ofStranger(2000 + at), senderAt(`192.0.3.${at % 16}`))
    expect(keys.size).toBe(4096)
    // The keys of a day ago have ended.
    time.now += day * 1000
    await cache.find(ofStranger(9000))
    expect(keys.size).toBe(4097)
  })

  test('of strangers that are long as JSON are not kept for other processes [stranger-11]', async () => {
    const keys = new Set<string>()
    const shared: SharedCache = { get: async () => undefined, set: async (key) => void keys.add(key) }
    const json = { ...document, extra: 'a'.repeat(8192) }
    const { cache } = cacheWith({ shared, documents: new Documents(new Map([[clientId, json]])) })
    await cache.find(url)
    expect(keys.size).toBe(0)
  })
})
