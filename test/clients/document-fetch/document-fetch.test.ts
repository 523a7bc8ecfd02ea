import { execFile } from 'node:child_process'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Lookup } from '../../../lib/clients/document-fetch/target-address'
import {
  documentFetch,
  type DocumentFetchOptions,
  type DocumentInquiry,
} from '../../../lib/clients/document-fetch/document-fetch'
import { bundled } from '../../support/bundled'
import { Clock } from '../../support/flows/clock'
import { authority, httpsOrigin, silentListener } from '../../support/https-origin'
import type { Listener } from '../../support/listening'
import { waitUntil } from '../../support/wait-until'

const identity = authority.issue(['client.example', '*.client.example', '127.0.0.1', 'localhost'])
const atLoopback = async () => [{ address: '127.0.0.1' }]

const listeners: Listener[] = []
const silences: (() => void)[] = []
afterEach(async () => {
  // A fetch that still waits keeps the process alive until its deadline.
  for (const end of silences.splice(0)) end()
  for (const listener of listeners.splice(0)) await listener.close()
})

/** Looks names up, and gives no answer for those that begin with `silent` until the test ends. */
function lookupWithSilence(): Lookup {
  const silence = new Promise<readonly []>((resolve) => silences.push(() => resolve([])))
  return (hostname) => (hostname.startsWith('silent') ? silence : atLoopback())
}

const answerJson: RequestListener = (request, response) => {
  response.setHeader('Content-Type', 'application/json').setHeader('Cache-Control', 'max-age=600')
  response.end(JSON.stringify({ path: request.url }))
}

async function stage(answer = answerJson, options: Partial<DocumentFetchOptions> = {}) {
  const origin = await httpsOrigin(identity, answer)
  listeners.push(origin)
  const clock = new Clock()
  const documents = documentFetch({
    loopback: true,
    lookup: atLoopback,
    ca: authority.ca,
    // What is tested here is never slow by intent, and a busy machine may be.
    timeout: 60_000,
    clock: clock.read,
    ...options,
  })
  const urlOf = (path: string, name = 'client.example') => `https://${name}:${origin.port}${path}`
  return { origin, clock, documents, urlOf }
}

/** How each of several fetches ends: `document`, or the reason. */
async function outcomes(fetches: readonly Promise<unknown>[]): Promise<readonly string[]> {
  return Promise.all(
    fetches.map((fetch) => fetch.then(() => 'document').catch((error) => String(error.reason))),
  )
}
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, at) => make(at))

describe('a document', () => {
  test('is fetched by name, with its port, path and query', async () => {
    const { documents, urlOf, origin } = await stage((request, response) => {
      response.setHeader('Content-Type', 'application/client+json; charset=utf-8')
      response.end(JSON.stringify({ url: request.url, headers: request.headers }))
    })
    const { json, maximumAge } = await documents.fetch(urlOf('/a/b?c=%20d'))
    expect(json).toEqual({
      url: '/a/b?c=%20d',
      headers: {
        host: `client.example:${origin.port}`,
        accept: 'application/json',
        'accept-encoding': 'identity',
        connection: 'close',
      },
    })
    expect(maximumAge).toBe(60)
  })

  test('has an age by its headers', async () => {
    const { documents, urlOf } = await stage()
    expect(await documents.fetch(urlOf('/'))).toEqual({ json: { path: '/' }, maximumAge: 600 })
  })

  test.each(['127.0.0.1', '2130706433', '0x7f.1', '017700000001', 'localhost'])(
    'comes from %s where loopback is allowed, without any resolver of the test',
    async (host) => {
      const { origin } = await stage()
      const documents = documentFetch({ loopback: true, ca: authority.ca, timeout: 60_000 })
      const { json } = await documents.fetch(`https://${host}:${origin.port}/a`)
      expect(json).toEqual({ path: '/a' })
    },
  )

  test('may be as large as allowed', async () => {
    const text = (size: number) => JSON.stringify('a'.repeat(size - 2))
    const { documents, urlOf } = await stage((request, response) => {
      response.setHeader('Content-Type', 'application/json').end(text(Number(request.url?.slice(1))))
    })
    expect(await outcomes([documents.fetch(urlOf('/5120')), documents.fetch(urlOf('/5121'))])).toEqual([
      'document',
      'size',
    ])
    const larger = await stage((_, response) => {
      response.setHeader('Content-Type', 'application/jwk-set+json').end(text(65_536))
    })
    const url = larger.urlOf('/')
    // At the same time: each call has its own bound.
    const both = [larger.documents.fetch(url, 65_536), larger.documents.fetch(url)]
    expect(await outcomes(both)).toEqual(['document', 'size'])
  })

  test('comes from another of its addresses if the first does not answer', async () => {
    const { documents, urlOf } = await stage(answerJson, {
      lookup: async () => [{ address: '127.0.0.9' }, { address: '127.0.0.1' }],
    })
    expect(await outcomes([documents.fetch(urlOf('/'))])).toEqual(['document'])
  })

  test('comes directly and from a certified origin, whatever the environment says [document-5]', async () => {
    const proxy = await silentListener()
    listeners.push(proxy)
    const url = `http://127.0.0.1:${proxy.port}`
    const env = {
      ...process.env,
      HTTPS_PROXY: url,
      https_proxy: url,
      NODE_USE_ENV_PROXY: '1',
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_NO_WARNINGS: '1',
    }
    const words = [bundled(join(__dirname, 'fetch-in-environment.ts'))]
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      cwd: join(__dirname, '../../..'),
      env,
    })
    expect(JSON.parse(stdout)).toEqual({ certified: 'document', uncertified: 'connection' })
    expect(proxy.connections()).toBe(0)
  })
})

describe('many calls', () => {
  test('for one URL at the same time share one fetch, its failure too, and nothing is kept [document-7]', async () => {
    let requests = 0
    const { documents, urlOf } = await stage((request, response) => {
      requests += 1
      if (request.url === '/missing') response.statusCode = 404
      answerJson(request, response)
    })
    const same = await Promise.all(times(50, () => documents.fetch(urlOf('/same'))))
    expect(new Set(same.map(({ json }) => json)).size).toBe(1)
    expect(requests).toBe(1)
    expect(new Set(await outcomes(times(50, () => documents.fetch(urlOf('/missing')))))).toEqual(
      new Set(['status']),
    )
    expect(requests).toBe(2)
    await documents.fetch(urlOf('/same'))
    expect(requests).toBe(3)
  })

  test('have at most 16 fetches at once, 64 wait, and others are refused at once [document-7]', async () => {
    const held: (() => void)[] = []
    let most = 0
    let open = 0
    const { documents, urlOf } = await stage((request, response) => {
      most = Math.max(most, ++open)
      response.once('finish', () => open--)
      if (held.length < 16) held.push(() => answerJson(request, response))
      else answerJson(request, response)
    })
    const waiting = times(80, (at) => documents.fetch(urlOf('/', `a${at}.client.example`)))
    expect(await outcomes([documents.fetch(urlOf('/', 'late.client.example'))])).toEqual(['busy'])
    await waitUntil('16 are held', async () => held.length === 16)
    for (const answer of held) answer()
    expect(await outcomes(waiting)).toEqual(times(80, () => 'document'))
    expect(most).toBe(16)
  })

  const from = (address: string): DocumentInquiry => ({
    sender: { address: () => address, networkRefusal: undefined },
  })

  /** How many of so many fetches, one after the other, give a document. The others are over a limit. */
  async function fetched(count: number, fetchOne: (at: number) => Promise<unknown>): Promise<number> {
    const ended: string[] = []
    for (let at = 0; at < count; at++) ended.push(...(await outcomes([fetchOne(at)])))
    const refused = ended.filter((each) => each !== 'document')
    expect(new Set(refused)).toEqual(new Set(refused.length > 0 ? ['limited'] : []))
    return ended.length - refused.length
  }

  test('for one name by one sender are limited, and the limit refills [document-7]', async () => {
    const { documents, urlOf, clock, origin } = await stage()
    const ask = (count: number, path: string) =>
      fetched(count, (at) => documents.fetch(urlOf(`/${path}${at}`), undefined, from('192.0.2.1')))
    expect(await ask(40, 'a')).toBe(30)
    clock.advance(4)
    expect(await ask(5, 'b')).toBe(2)
    expect(origin.connections()).toBe(32)
    const others = [
      documents.fetch(urlOf('/', 'other.client.example'), undefined, from('192.0.2.1')),
      documents.fetch(urlOf('/'), undefined, from('192.0.2.2')),
    ]
    expect(await outcomes(others)).toEqual(['document', 'document'])
  })

  test('for one name are limited, however many senders there are [document-7]', async () => {
    let isFound = false
    const { documents, urlOf, origin } = await stage(answerJson, {
      lookup: async () => (isFound ? atLoopback() : []),
    })
    const ask = (at: number) => documents.fetch(urlOf(`/${at}`), undefined, from(`192.0.2.${at % 50}`))
    // A fetch counts before its look-up, so those that find no address spare 580 handshakes.
    for (let at = 0; at < 580; at++) expect(await outcomes([ask(at)])).toEqual(['unresolved'])
    isFound = true
    expect(await fetched(30, (at) => ask(580 + at))).toBe(20)
    expect(origin.connections()).toBe(20)
  })

  test('by one sender are limited for all names, and look up no more names [document-7]', async () => {
    const asked: string[] = []
    const { documents, urlOf } = await stage(answerJson, {
      lookup: async (hostname) => {
        asked.push(hostname)
        return atLoopback()
      },
    })
    const ask = (at: number) =>
      documents.fetch(urlOf('/', `a${at}.client.example`), undefined, from('192.0.2.1'))
    expect(await fetched(130, ask)).toBe(120)
    expect(asked).toHaveLength(120)
    expect(await fetched(1, () => documents.fetch(urlOf('/'), undefined, from('192.0.2.2')))).toBe(1)
  })

  test.each(['named', 'known'] as const)(
    'for a %s URL have a limit for this URL, which calls to its host do not use up [document-8]',
    async (trust) => {
      const { documents, urlOf, clock } = await stage()
      const sender = from('192.0.2.1')
      const junk = (at: number) => documents.fetch(urlOf(`/${at}`), undefined, sender)
      expect(await fetched(40, junk)).toBe(30)
      const ask = () => documents.fetch(urlOf('/own'), undefined, { ...sender, trust })
      expect(await fetched(8, ask)).toBe(6)
      clock.advance(10)
      expect(await fetched(2, ask)).toBe(1)
    },
  )

  test('for a named URL are not kept waiting by others whose names DNS does not answer for [document-8]', async () => {
    const { documents, urlOf } = await stage(answerJson, { lookup: lookupWithSilence() })
    const silent = (at: number) => `silent${at}.client.example`
    const lanes = [
      ...times(80, (at) => documents.fetch(urlOf('/', silent(at)))),
      ...times(80, (at) => documents.fetch(urlOf('/', silent(at)), undefined, { trust: 'known' })),
    ]
    for (const each of lanes) each.catch(() => undefined)
    const busy = documents.fetch(urlOf('/', 'late.client.example'), undefined, { trust: 'known' })
    expect(await outcomes([busy])).toEqual(['busy'])
    expect(await fetched(1, () => documents.fetch(urlOf('/'), undefined, { trust: 'named' }))).toBe(1)
  })

  test('by one sender at the same time take a tenth of the places and of the queue [document-8]', async () => {
    const { documents, urlOf } = await stage(answerJson, { lookup: lookupWithSilence() })
    const silent = times(80, (at) =>
      documents.fetch(urlOf('/', `silent${at}.client.example`), undefined, from('192.0.2.1')),
    )
    for (const each of silent) each.catch(() => undefined)
    expect(await outcomes(silent.slice(8))).toEqual(times(72, () => 'limited'))
    expect(await fetched(1, () => documents.fetch(urlOf('/'), undefined, from('192.0.2.2')))).toBe(1)
  })

  test('end with their deadline and free their places, also while a look-up still runs [document-6]', async () => {
    const lookUps: (() => void)[] = []
    const { documents, urlOf } = await stage(answerJson, {
      timeout: 100,
      lookup: (hostname) =>
        hostname.startsWith('silent')
          ? new Promise((resolve) => lookUps.push(() => resolve([])))
          : atLoopback(),
    })
    const silent = (first: number, count: number) =>
      outcomes(times(count, (at) => documents.fetch(urlOf('/', `silent${first + at}.client.example`))))
    for (let round = 0; round < 4; round++)
      expect(await silent(16 * round, 16)).toEqual(times(16, () => 'timeout'))
    // As many look-ups as may go on after their deadline.
    expect(lookUps).toHaveLength(64)
    expect(await silent(64, 2)).toEqual(['busy', 'busy'])
    for (const end of lookUps) end()
    await waitUntil(
      'a turn is free',
      async () => (await outcomes([documents.fetch(urlOf('/'))]))[0] === 'document',
    )
  })

  test('leave no connection open', async () => {
    const { documents, urlOf, origin } = await stage((request, response) => {
      if (request.url === '/0') response.statusCode = 500
      answerJson(request, response)
    })
    await outcomes(times(20, (at) => documents.fetch(urlOf(`/${at % 2}`, `a${at}.client.example`))))
    await waitUntil('all connections are closed', async () => origin.open() === 0)
    expect(origin.connections()).toBe(20)
  })
})
