import type { DocumentFetch, DocumentInquiry } from '../../lib/index'
import { Clock } from '../support/flows/clock'
import { fetchOf, outcomeOfFetch, stoppedTimers } from '../support/flows/opened-documents'
import { authority, httpsOrigin } from '../support/https-origin'
import type { Listener } from '../support/listening'
import { waitUntil } from '../support/wait-until'

const { ca } = authority
const identity = authority.issue(['client.example', '*.client.example'])
const atLoopback = async () => [{ address: '127.0.0.1' }]
const nowhere = async () => []

let origin: Listener
beforeAll(async () => {
  // The deadline of a fetch is over when a test says so: no busy machine refuses anything here.
  jest.useFakeTimers(stoppedTimers)
  origin = await httpsOrigin(identity, (request, response) => {
    response
      .writeHead(request.url === '/missing' ? 404 : 200, { 'Content-Type': 'application/json' })
      .end('{}')
  })
})
afterAll(() => origin.close())

const urlOf = (path: string, name = 'client.example') => `https://${name}:${origin.port}${path}`
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, at) => make(at))
const from = (address: string): DocumentInquiry => ({
  sender: { address, networkRefusal: undefined },
})
const all = (fetches: readonly Promise<unknown>[]) => Promise.all(fetches.map(outcomeOfFetch))

/** How many of so many fetches the limits allow, one after the other. */
async function allowed(count: number, fetchOne: (at: number) => Promise<unknown>): Promise<number> {
  let refused = 0
  for (let at = 0; at < count; at++) if ((await outcomeOfFetch(fetchOne(at))) === 'limited') refused += 1
  return count - refused
}

/** A look-up that gives no answer for names that begin with `silent`, until it is told to. */
function silence() {
  const waiting: (() => void)[] = []
  return {
    waiting,
    end: () => waiting.splice(0).forEach((each) => each()),
    lookup: (hostname: string) =>
      hostname.startsWith('silent')
        ? new Promise<readonly []>((resolve) => waiting.push(() => resolve([])))
        : atLoopback(),
  }
}
const askSilent = (documents: DocumentFetch, first: number, count: number, inquiry?: DocumentInquiry) =>
  times(count, (at) =>
    outcomeOfFetch(documents.fetch(urlOf('/', `silent${first + at}.client.example`), undefined, inquiry)),
  )

describe('Fetches at the same time', () => {
  test('for one URL share one request, its failure too, and nothing is kept [document-7]', async () => {
    const documents = fetchOf({ ca, lookup: atLoopback })
    const before = origin.connections()
    expect(new Set(await all(times(50, () => documents.fetch(urlOf('/same')))))).toEqual(
      new Set(['document']),
    )
    expect(new Set(await all(times(50, () => documents.fetch(urlOf('/missing')))))).toEqual(
      new Set(['status']),
    )
    expect(origin.connections()).toBe(before + 2)
    await documents.fetch(urlOf('/same'))
    expect(origin.connections()).toBe(before + 3)
  })

  test('are 16 at most, 64 wait, and others are refused at once [document-7]', async () => {
    const { lookup, waiting, end } = silence()
    const documents = fetchOf({ lookup })
    const asked = Promise.all(askSilent(documents, 0, 80))
    expect(await all([documents.fetch(urlOf('/'))])).toEqual(['busy'])
    for (const lookUps of [16, 16, 16, 16, 16]) {
      await waitUntil('others have taken the places', async () => waiting.length > 0)
      expect(waiting).toHaveLength(lookUps)
      end()
    }
    expect(await asked).toEqual(times(80, () => 'unresolved'))
  })

  test('of one sender are 8 at most, and other senders are not refused [document-8]', async () => {
    const { lookup } = silence()
    const documents = fetchOf({ ca, lookup })
    const asked = askSilent(documents, 0, 80, from('192.0.2.1'))
    expect(await Promise.all(asked.slice(8))).toEqual(times(72, () => 'limited'))
    const others = documents.fetch(urlOf('/'), undefined, from('192.0.2.2'))
    expect(await all([others])).toEqual(['document'])
    await jest.advanceTimersByTimeAsync(2100)
    expect(await Promise.all(asked.slice(0, 8))).toEqual(times(8, () => 'timeout'))
    expect(await all([documents.fetch(urlOf('/'), undefined, from('192.0.2.1'))])).toEqual(['document'])
  })

  test('end with their deadline and free their places, while 64 look-ups run on at most [document-6]', async () => {
    const { lookup, waiting, end } = silence()
    const documents = fetchOf({ ca, lookup })
    for (let round = 0; round < 4; round++) {
      const asked = askSilent(documents, 16 * round, 16)
      await waitUntil('all look up', async () => waiting.length === 16 * (round + 1))
      await jest.advanceTimersByTimeAsync(2100)
      expect(await Promise.all(asked)).toEqual(times(16, () => 'timeout'))
    }
    expect(await Promise.all(askSilent(documents, 64, 2))).toEqual(['busy', 'busy'])
    const before = origin.connections()
    end()
    await waitUntil(
      'a turn is free',
      async () => (await all([documents.fetch(urlOf('/'))]))[0] === 'document',
    )
    expect(origin.connections()).toBe(before + 1)
  })

  test('a look-up that answers after the deadline leads to no connection [document-6]', async () => {
    let answer: (addresses: readonly { address: string }[]) => void = () => undefined
    const documents = fetchOf({ ca, lookup: () => new Promise((resolve) => (answer = resolve)) })
    const fetched = outcomeOfFetch(documents.fetch(urlOf('/')))
    await jest.advanceTimersByTimeAsync(2100)
    expect(await fetched).toBe('timeout')
    const before = origin.connections()
    answer([{ address: '127.0.0.1' }])
    await fetchOf({ ca, lookup: atLoopback }).fetch(urlOf('/'))
    expect(origin.connections()).toBe(before + 1)
  })
})

const in64 = (at: number) => `2001:db8::${at.toString(16)}`
const in56 = (at: number) => `2001:db8:0:${(at % 256).toString(16)}::1`
const in48 = (at: number) => `2001:db8:0:${((at % 256) * 256).toString(16)}::1`
const oneHost = () => 'client.example'
const manyHosts = (at: number) => `${at}.client.example`

describe('Fetches in a minute', () => {
  test.each<[string, number, (at: number) => string, (at: number) => string, number]>([
    ['30 of one host for one IPv4 address', 40, () => '192.0.2.1', oneHost, 30],
    ['30 of one host for one /64 of IPv6', 40, in64, oneHost, 30],
    ['480 of one host for one /56, which counts with its /48', 490, in56, oneHost, 480],
    ['480 of one host for one /48', 490, in48, oneHost, 480],
    ['120 of all hosts for one IPv4 address', 130, () => '192.0.2.1', manyHosts, 120],
    ['600 of one host for all senders', 700, (at) => `192.0.2.${at % 100}`, oneHost, 600],
  ])('are %s [document-7]', async (_, count, sender, host, most) => {
    const { read: clock } = new Clock()
    const documents = fetchOf({ lookup: nowhere }, { clock })
    const ask = (at: number) => documents.fetch(urlOf(`/${at}`, host(at)), undefined, from(sender(at)))
    expect(await allowed(count, ask)).toBe(most)
  })

  test('that one /48 causes leave a host to others [document-7]', async () => {
    const documents = fetchOf({ lookup: nowhere }, { clock: new Clock().read })
    const ask = (sender: string) => (at: number) => documents.fetch(urlOf(`/${at}`), undefined, from(sender))
    for (let at = 0; at < 500; at++) await outcomeOfFetch(ask(in48(at))(at))
    expect(await allowed(40, ask('192.0.2.1'))).toBe(30)
  })

  test('over a limit look nothing up, and the limit refills [document-7]', async () => {
    const clock = new Clock()
    let lookUps = 0
    const documents = fetchOf({ lookup: async () => ((lookUps += 1), []) }, { clock: clock.read })
    const ask = (path: string) => (at: number) =>
      documents.fetch(urlOf(`/${path}${at}`), undefined, from('192.0.2.1'))
    expect(await allowed(40, ask('a'))).toBe(30)
    clock.advance(4)
    expect(await allowed(5, ask('b'))).toBe(2)
    expect(lookUps).toBe(32)
  })

  test('without a sender, as of registered URLs, count for the host alone [document-8]', async () => {
    const documents = fetchOf({ lookup: nowhere }, { clock: new Clock().read })
    expect(await allowed(605, (at) => documents.fetch(urlOf(`/${at}`)))).toBe(600)
  })
})
