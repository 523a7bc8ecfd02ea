import { DocumentCache } from '../../lib/client-id-metadata/document-cache'
import { DocumentUnavailable, type UnavailableReason } from '../../lib/document-fetch/document-unavailable'
import { Throttled, UnusableClient } from '../../lib/protocol/oauth-error'
import { parseStoredClient, anyCapabilities } from '../../lib/protocol/parse-client'
import { memoryCache, type SharedCache } from '../../lib/stores/shared-cache'
import { clientId, document, Documents } from '../support/client-documents'

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
  const cache = new DocumentCache({ documents, sharedCache: shared, parse, clock: () => time.now })
  return { cache, documents, time, shared }
}

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
    const text = JSON.stringify({ client_id: clientId, fetchedAt: 0, expiresAt, document })
    const { cache, documents, time } = cacheWith({ shared: { get: async () => text, set: async () => {} } })
    await cache.find(url)
    time.now += 86_400_000 - 1
    expect(cache.find(url)).not.toBeInstanceOf(Promise)
    time.now += 1
    await cache.find(url)
    expect(documents.asked).toEqual([])
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

  test('of one failure fail for all that wait, and for nobody later', async () => {
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
      [refusal, undefined].map(async (networkRefusal) => cache.find(url, networkRefusal)),
    )
    expect(refused).toMatchObject({ status: 'rejected', reason: refusal })
    expect(client).toMatchObject({ status: 'fulfilled' })
    expect(documents.asked).toHaveLength(1)
    expect(cache.find(url, refusal)).not.toBeInstanceOf(Promise)
    const other = cacheWith({ shared, time })
    await expect(other.cache.find(url, refusal)).resolves.toMatchObject({ client_id: clientId })
    expect(other.documents.asked).toEqual([])
  })

  test.each<UnavailableReason>(['limited', 'busy'])(
    'stay usable for a day while this server is %s, because strangers can use up its limits [stranger-10]',
    async (cause) => {
      const { cache, documents, time } = cacheWith()
      const client = await cache.find(url)
      documents.answers.set(clientId, new DocumentUnavailable(cause))
      time.now += 86_400_000 - 1
      expect(await cache.find(url)).toBe(client)
      time.now += 1
      await expect(cache.find(url)).rejects.toMatchObject({ reason: 'client_document_limited' })
    },
  )

  test('do not stay usable after another trouble', async () => {
    const { cache, documents, time } = cacheWith()
    await cache.find(url)
    time.now += 60_000
    for (const trouble of [
      'malformed',
      new DocumentUnavailable('status'),
      new DocumentUnavailable('timeout'),
    ]) {
      documents.answers.set(clientId, trouble)
      await expect(cache.find(url)).rejects.toBeInstanceOf(UnusableClient)
    }
  })

  test.each<[UnavailableReason, string]>([
    ['url', 'client_document_unreachable'],
    ['unresolved', 'client_document_unreachable'],
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
      JSON.stringify({ client_id: `${clientId}x`, fetchedAt: 0, expiresAt: 9e15, document }),
    ],
    ['without an end', JSON.stringify({ client_id: clientId, fetchedAt: 0, document })],
    ['without a beginning', JSON.stringify({ client_id: clientId, expiresAt: 9e15, document })],
    [
      'with an end that is no number',
      JSON.stringify({ client_id: clientId, fetchedAt: 0, expiresAt: '9e15', document }),
    ],
    [
      'that is over',
      JSON.stringify({ client_id: clientId, fetchedAt: 0, expiresAt: 1_000_000_000_000, document }),
    ],
    [
      'that is malformed here',
      JSON.stringify({ client_id: clientId, fetchedAt: 0, expiresAt: 9e15, document: 'malformed' }),
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

  test('of strangers take a bounded number of keys [stranger-11]', async () => {
    const keys = new Set<string>()
    const shared: SharedCache = { get: async () => undefined, set: async (key) => void keys.add(key) }
    const documents = new Documents()
    documents.fetch = async () => ({ json: document, maximumAge: 60 })
    const { cache } = cacheWith({ shared, documents })
    for (let at = 0; at < 20_000; at++)
      await cache.find({ clientId: `https://evil.example/${at}`, host: 'evil.example' })
    expect(keys.size).toBeGreaterThan(8000)
    expect(keys.size).toBeLessThanOrEqual(16_384)
  })
})
