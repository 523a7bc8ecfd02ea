import {
  memoryStore,
  type AuthorizationServerOptions,
  type DocumentFetch,
  type DocumentInquiry,
  type Store,
} from '../../lib/index'
import { Clock } from '../support/flows/clock'
import { fetchOf, openedDocuments } from '../support/flows/opened-documents'
import { but } from '../support/stores/but'

type Inquired = DocumentInquiry | undefined

const clientId = 'https://notes.example/oauth/client.json'
const document = {
  client_id: clientId,
  client_name: 'Note Taker',
  redirect_uris: ['https://notes.example/callback'],
}
// Seconds.
const day = 86_400

/** A failure of the fetch of a server: over a limit, or that of a name of this sort. */
async function failureOf(reason: 'limited' | 'dns_silent' | 'unresolved'): Promise<Error> {
  const code = reason === 'dns_silent' ? 'ESERVFAIL' : 'ENOTFOUND'
  const lookup = () => Promise.reject(Object.assign(new Error(code), { code }))
  const documents = fetchOf({ lookup }, { clock: new Clock().read })
  const fail = () =>
    documents.fetch('https://a.example/', undefined, { sender: senderAt('192.0.2.9') }).then(
      () => new Error('There is a document.'),
      (error: unknown) => (error instanceof Error ? error : new Error('No error.')),
    )
  if (reason === 'limited') for (let at = 0; at < 30; at++) await fail()
  return fail()
}

/** Documents at every URL, unless the answer is another one. */
class Documents implements DocumentFetch {
  readonly asked: [url: string, size: number | undefined, inquiry: Inquired][] = []
  answer: ((url: string, inquiry: Inquired) => unknown) | undefined
  maximumAge = 60

  async fetch(url: string, size?: number, inquiry?: DocumentInquiry) {
    this.asked.push([url, size, inquiry])
    const json = await (this.answer ?? ((client_id) => ({ ...document, client_id })))(url, inquiry)
    if (json instanceof Error) throw json
    return { json, maximumAge: this.maximumAge }
  }
}

/** A store that all processes share, the texts in it, and how many seconds each is kept. */
function sharedStore(): Store & {
  readonly texts: Map<string, string>
  readonly kept: Map<string, number | undefined>
} {
  const [texts, kept] = [new Map<string, string>(), new Map<string, number | undefined>()]
  const inner = memoryStore()
  const write: Store['write'] = (key, text, terms) => {
    texts.set(key, text)
    kept.set(key, terms.seconds)
    return inner.write(key, text, terms)
  }
  return Object.assign(but(inner, { write }), { texts, kept })
}

/** A store that always holds this text, and takes no other. */
const holding = (text: string | undefined) =>
  but(memoryStore(), {
    read: async () => (text === undefined ? undefined : { value: text, version: 'A'.repeat(22) }),
    write: async () => true,
  })

/** A process that finds clients by their documents. */
function process({
  clock = new Clock(),
  shared = sharedStore(),
  allow,
}: { clock?: Clock; shared?: Store; allow?: readonly string[] } = {}) {
  const documents = new Documents()
  const options: Partial<AuthorizationServerOptions> = { store: shared, clock: clock.read, storeDeadline: 10 }
  const { findClient: find } = openedDocuments({ documents, ...(allow && { allow }) }, options)
  const found = async (url = clientId, sender?: DocumentInquiry['sender']) => find(url, sender)
  /** The name of the client, or the reason why there is none. */
  const outcome = (url = clientId, sender?: DocumentInquiry['sender']) =>
    found(url, sender).then(
      (client) => client?.client_id,
      (error: unknown) => String(Object(error).reason ?? error),
    )
  const asks = () => documents.asked.length
  return { documents, clock, shared, find: found, outcome, asks }
}

const senderAt = (address: string): DocumentInquiry['sender'] => ({
  address,
  networkRefusal: undefined,
})
const stranger = (at: number) => `https://evil.example/${at}`

describe('A document', () => {
  test('is fetched once for all processes, and expires for all at once', async () => {
    const one = process()
    await one.find()
    one.clock.advance(59)
    const other = process(one)
    expect(await other.outcome()).toBe(clientId)
    expect(other.asks()).toBe(0)
    one.clock.advance(1)
    await other.find()
    expect(other.asks()).toBe(1)
  })

  test.each([
    ['malformed', async () => ({}), 'client_document_malformed'],
    ['not available', () => failureOf('unresolved'), 'client_document_unreachable'],
  ])('that is %s fails all that wait, and no later request [stranger-8]', async (_, answer, reason) => {
    const shared = sharedStore()
    const one = process({ shared })
    one.documents.answer = answer
    expect(await Promise.all([one.outcome(), one.outcome()])).toEqual([reason, reason])
    expect([one.asks(), shared.texts.size]).toEqual([1, 0])
    one.documents.answer = undefined
    expect(await one.outcome()).toBe(clientId)
  })

  test('of a fetch of the host that fails has the cause in its refusal, and no word of it for the requester', async () => {
    const cause = new TypeError('The proxy is away.')
    const one = process()
    one.documents.answer = () => cause
    await expect(one.find()).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      description: 'The metadata document of the client is not available.',
      reason: 'client_document_unreachable',
      cause,
    })
  })
})

describe('A document that has ended', () => {
  test.each([
    ['limited', 'client_document_limited'],
    ['dns_silent', 'client_document_unreachable'],
  ] as const)(
    'stands in for a day while a fetch fails by %s, which others can cause, in a new process too [stranger-10]',
    async (cause, reason) => {
      const one = process()
      await one.find()
      const failure = await failureOf(cause)
      one.documents.answer = () => failure
      one.clock.advance(day - 0.001)
      const fresh = process(one)
      fresh.documents.answer = () => failure
      expect([await one.outcome(), await fresh.outcome()]).toEqual([clientId, clientId])
      one.clock.advance(0.001)
      expect([await one.outcome(), await fresh.outcome()]).toEqual([reason, reason])
    },
  )

  test('does not stand in after another failure', async () => {
    const one = process()
    await one.find()
    one.clock.advance(60)
    for (const failure of [{}, await failureOf('unresolved'), new Error('away')]) {
      one.documents.answer = () => failure
      expect(await one.outcome()).toMatch(/^client_document_/)
    }
  })

  test('that another process fetched in the future counts as fetched now', async () => {
    const shared = sharedStore()
    const one = process({ shared })
    const slow = process({ shared })
    one.clock.advance(2 * day)
    await one.find()
    slow.documents.answer = () => failureOf('limited')
    await slow.find()
    for (const key of shared.texts.keys()) await shared.remove(key)
    slow.clock.advance(day - 0.001)
    expect(await slow.outcome()).toBe(clientId)
    slow.clock.advance(0.001)
    expect(await slow.outcome()).toBe('client_document_limited')
  })
})

describe('A network', () => {
  const refused: NonNullable<DocumentInquiry['sender']> = {
    address: '192.0.2.1',
    // A server makes it; the source hands it on as it is.
    networkRefusal: Object(new Error('Too many.')),
  }

  test('over its limit causes no fetch, shares its refusal with no other, and uses what is known', async () => {
    const one = process()
    const [first, client] = await Promise.allSettled([one.find(clientId, refused), one.find()])
    expect([first.status, client.status]).toEqual(['rejected', 'fulfilled'])
    expect(one.asks()).toBe(1)
    const other = process(one)
    expect([await one.outcome(clientId, refused), await other.outcome(clientId, refused)]).toEqual([
      clientId,
      clientId,
    ])
    expect(other.asks()).toBe(0)
  })

  test('over the limit of fetches is refused alone: another that came at once is asked for', async () => {
    const failure = await failureOf('limited')
    const one = process()
    one.documents.answer = (_url, inquiry) => (inquiry?.sender?.address === '192.0.2.1' ? failure : document)
    const senders = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3']
    const outcomes = await Promise.all(senders.map((each) => one.outcome(clientId, senderAt(each))))
    expect(outcomes).toEqual(['client_document_limited', 'client_document_limited', clientId, clientId])
    expect(one.documents.asked.map(([, , inquiry]) => inquiry?.sender?.address)).toEqual([
      '192.0.2.1',
      '192.0.2.2',
    ])
  })
})

test('A document is fetched with 5120 bytes at most, and counts for the sender of the request each time [stranger-10]', async () => {
  const one = process()
  const senders = [senderAt('192.0.2.1'), senderAt('192.0.2.2')]
  for (const sender of senders) {
    await one.find(clientId, sender)
    one.clock.advance(60)
  }
  expect(one.documents.asked).toEqual(senders.map((sender) => [clientId, 5120, { sender }]))
})

describe('The shared cache', () => {
  const entry = {
    client_id: clientId,
    verified: false,
    fetchedAt: 0,
    expiresAt: 9e15,
    document,
  }
  test.each<[string, string]>([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['of another document', JSON.stringify({ ...entry, client_id: `${clientId}x` })],
    ['without an end', JSON.stringify({ ...entry, expiresAt: undefined })],
    ['without a beginning', JSON.stringify({ ...entry, fetchedAt: undefined })],
    ['that does not say whether it was verified', JSON.stringify({ ...entry, verified: undefined })],
    ['with an end that is no number', JSON.stringify({ ...entry, expiresAt: '9e15' })],
    ['that is over', JSON.stringify({ ...entry, expiresAt: 1_000_000_000_000 })],
    ['that is malformed here', JSON.stringify({ ...entry, document: { client_id: clientId } })],
  ])('with an entry %s is no document', async (_, text) => {
    const one = process({ shared: holding(text) })
    expect(await one.outcome()).toBe(clientId)
    expect(one.asks()).toBe(1)
  })

  test('makes a document good for a day at most, whatever it says', async () => {
    const one = process({ shared: holding(JSON.stringify(entry)) })
    await one.find()
    one.clock.advance(day - 0.001)
    await one.find()
    expect(one.asks()).toBe(0)
    one.clock.advance(0.001)
    await one.find()
    expect(one.asks()).toBe(1)
  })

  test('may be full: a document is used all the same. While it cannot be read, nothing is fetched', async () => {
    const fail = () => Promise.reject(new Error('gone'))
    expect(await process({ shared: but(memoryStore(), { write: fail }) }).outcome()).toBe(clientId)
    const gone = process({ shared: but(memoryStore(), { read: fail }) })
    expect(await gone.outcome()).toBe('store_unavailable')
    expect(gone.asks()).toBe(0)
  })

  test('holds a document for a day', async () => {
    const shared = sharedStore()
    await process({ shared }).find()
    expect([...shared.kept.values()]).toEqual([day])
  })

  test('takes 4096 documents of strangers, a quarter of them of one network, and none that is long [stranger-11]', async () => {
    const shared = sharedStore()
    const one = process({ shared })
    for (let at = 0; at < 1030; at++) await one.find(stranger(at), senderAt('192.0.2.1'))
    expect(shared.texts.size).toBe(1024)
    for (let at = 0; at < 3080; at++) await one.find(stranger(2000 + at), senderAt(`192.0.3.${at % 16}`))
    expect(shared.texts.size).toBe(4096)
    // The keys of a day ago have ended.
    one.clock.advance(day + 1)
    const others = Math.max(...[...shared.texts.values()].map((text) => text.length))
    const extra = (length: number) => 'a'.repeat(length - others - JSON.stringify({ extra: '' }).length + 1)
    one.documents.answer = (client_id) => ({ ...document, client_id, extra: extra(8193) })
    await one.find(stranger(9000))
    expect(shared.texts.size).toBe(4096)
    one.documents.answer = (client_id) => ({ ...document, client_id, extra: extra(8192) })
    await one.find(stranger(9001))
    expect(shared.texts.size).toBe(4097)
    expect(Math.max(...[...shared.texts.values()].map((text) => text.length))).toBe(8192)
  })
})

test('1000 documents stay in memory, and the next one pushes out the one that was used longest ago', async () => {
  const one = process({ shared: holding(undefined) })
  for (let at = 0; at < 1000; at++) await one.find(stranger(at))
  await one.find(stranger(0))
  expect(one.asks()).toBe(1000)
  for (const at of [1000, 0, 1]) await one.find(stranger(at))
  expect(one.documents.asked.slice(1000).map(([url]) => url)).toEqual([stranger(1000), stranger(1)])
})

test('Strangers push no document out of memory that is used meanwhile [stranger-10]', async () => {
  const used = process({ shared: holding(undefined) })
  await used.find()
  for (let at = 0; at < 1100; at++) {
    await used.find(stranger(at))
    await used.find()
  }
  expect(used.documents.asked.filter(([url]) => url === clientId)).toHaveLength(1)
})
