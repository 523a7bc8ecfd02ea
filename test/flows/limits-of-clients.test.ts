import { createHash } from 'node:crypto'
import { type ClientAuthenticationLimits, memoryStore } from '../../lib/index'
import { application, type Hosting } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoFrame } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import type { Flow } from '../support/flows/flow'
import {
  come,
  countOf,
  from,
  guess,
  guessTimes,
  limited,
  noGrant,
  proven,
  right,
  trusting,
  wrong,
} from '../support/flows/guesses'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf } from '../support/flows/tokens'
import { but } from '../support/stores/but'
import { watchedCounters } from '../support/watched-counters'

describe('client authentication limits', () => {
  const off = { address: false, clientAndAddress: false, client: false } as const
  const three = { attempts: 3 }

  const open = (stage: SetStage, limits: ClientAuthenticationLimits | false, hosting?: Hosting) =>
    stage({ limits: { clientAuthentication: limits } }, hosting)

  describeOnStores('Guessing at client secrets', (stage) => {
    test.each([
      ['photo-print', 'photo-print'],
      ['nobody', createHash('sha256').update('nobody').digest('hex').slice(0, 8)],
    ])('is limited per client and address: %s [store-12]', async (clientId, reportedId) => {
      const { flow, failures } = open(stage, { ...off, clientAndAddress: three })
      await guessTimes(3, flow, clientId)
      const response = await come(flow, clientId, 'guess')
      expect(refusalOf(response)).toBe(limited)
      expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/)
      expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(900)
      expect(failures.at(-1)).toMatchObject({ reason: 'client_and_address_limited', clientId: reportedId })
    })

    test('is limited at all endpoints and by both methods together', async () => {
      const { flow } = open(stage, { ...off, clientAndAddress: three })
      await guessTimes(1, flow)
      const body = { client_id: 'photo-print', client_secret: 'guess' }
      for (const path of ['/revoke', '/introspect'])
        expect(refusalOf(await flow.submit(path, { ...body, token: 'x' }))).toBe(wrong)
      expect(await guess(flow)).toBe(limited)
    })

    test('from one address leaves another client and another address alone', async () => {
      const set = open(stage, { ...off, clientAndAddress: three }, trusting)
      await guessTimes(3, from(set, '192.0.2.7'))
      expect(await guess(from(set, '192.0.2.7'))).toBe(limited)
      await guessTimes(3, from(set, '192.0.2.8'))
      await guessTimes(3, from(set, '192.0.2.7'), 'nightly-report')
    })

    test('counts all addresses of one IPv6 network as one [store-18]', async () => {
      const set = open(stage, { ...off, clientAndAddress: three }, trusting)
      for (const address of ['2001:db8:0:1::1', '2001:db8:0:1::2', '2001:db8:0:1:a:b:c:d'])
        await guessTimes(1, from(set, address))
      expect(await guess(from(set, '2001:db8:0:1:ffff::'))).toBe(limited)
      await guessTimes(1, from(set, '2001:db8:0:2::1'))
    })

    test('uses X-Forwarded-For only where the host trusts its proxy, and then its last address [store-19]', async () => {
      const limits = { ...off, clientAndAddress: three }
      const believing = open(stage, limits, trusting)
      for (const end of [1, 2, 3]) await guessTimes(1, from(believing, `198.51.100.${end}, 192.0.2.7`))
      expect(await guess(from(believing, '198.51.100.4, 192.0.2.7'))).toBe(limited)
      const direct = open(stage, limits)
      for (const end of [1, 2, 3]) await guessTimes(1, from(direct, `192.0.2.${end}`))
      expect(await guess(from(direct, '192.0.2.4'))).toBe(limited)
    })

    test('is limited per client, from however many addresses', async () => {
      const set = open(stage, { ...off, client: three }, trusting)
      for (const end of [1, 2, 3]) await guessTimes(1, from(set, `192.0.2.${end}`))
      expect(await guess(from(set, '192.0.2.4'))).toBe(limited)
      expect(set.failures.at(-1)).toMatchObject({ reason: 'client_limited' })
      await guessTimes(1, from(set, '192.0.2.4'), 'nightly-report')
    })

    test('is limited per address, at however many clients, so that invented names fill no store [store-20]', async () => {
      const set = open(stage, { address: three }, trusting)
      for (const name of ['one', 'two', 'three']) await guessTimes(1, from(set, '192.0.2.7'), name)
      expect(await guess(from(set, '192.0.2.7'), 'four')).toBe(limited)
      expect(set.failures.at(-1)).toMatchObject({ reason: 'client_address_limited' })
      await guessTimes(1, from(set, '192.0.2.8'), 'four')
    })

    test('is not limited where the limits are switched off', async () => {
      const { flow } = open(stage, false)
      for (let time = 0; time < 21; time++) expect(await guess(flow)).toBe(wrong)
    })

    test('locks no generated secret out [store-17]', async () => {
      const { flow } = open(stage, { address: three, clientAndAddress: three, client: three })
      await guessTimes(3, flow)
      for (let time = 0; time < 5; time++) {
        expect(await guess(flow)).toBe(limited)
        expect(await right(flow)).toBe(proven)
      }
    })

    test('locks no chosen secret out that this process knows, for a day; one that it does not know yet waits', async () => {
      const set = open(stage, { client: { attempts: 3, seconds: 86_400 } })
      const stranger = open((options) => stage({ ...options, store: set.store }), {
        client: { attempts: 3, seconds: 86_400 },
      })
      expect(await right(set.flow, photoFrame)).toBe(proven)
      await guessTimes(3, set.flow, 'photo-frame')
      set.clock.advance(3600)
      expect(await guess(set.flow, 'photo-frame')).toBe(limited)
      expect(await right(set.flow, photoFrame)).toBe(proven)
      expect(await right(stranger.flow, photoFrame)).toBe(limited)
    })

    test('of 40 at once on two processes as many are looked at as the limit says [store-21]', async () => {
      const limits = { clientAndAddress: { attempts: 20 } }
      const first = open(stage, limits)
      const second = open((options) => stage({ ...options, store: first.store }), limits)
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, (_, at) => guess(at % 2 === 0 ? first.flow : second.flow, 'photo-frame')),
      )
      expect([countOf(outcomes, wrong), countOf(outcomes, limited)]).toEqual([20, 20])
      expect(await guess(second.flow, 'photo-frame')).toBe(limited)
      expect(await guess(first.flow, 'photo-frame')).toBe(limited)
    })

    test('is not forgotten when the client itself comes meanwhile', async () => {
      const { flow } = open(stage, { ...off, clientAndAddress: three })
      for (let time = 0; time < 3; time++) {
        expect(await right(flow, photoFrame)).toBe(proven)
        await guessTimes(1, flow, 'photo-frame')
      }
      expect(await guess(flow, 'photo-frame')).toBe(limited)
    })
  })
})

describe('client authentication counts', () => {
  const three = { attempts: 3 }

  const method = (limitedToo: boolean) => ({
    name: 'urn:example:word',
    scheme: 'Word',
    read: ({ authorization: [header = ''] }: { readonly authorization: readonly string[] }) =>
      header.startsWith('Word ') ? { clientId: 'worded', credential: header.slice(5) } : undefined,
    verify: async (
      _client: unknown,
      word: string,
      withinLimits: (verification: () => Promise<boolean>) => Promise<unknown>,
    ) => {
      const check = async () => word === 'open'
      return limitedToo ? (await withinLimits(check)) === true : check()
    },
  })

  const say = async (flow: Flow, word: string) =>
    refusalOf(await flow.submit('/token', noGrant, undefined, { Authorization: `Word ${word}` }))

  describe('Guessing at client secrets, as time goes by', () => {
    test('allows 20 failures of a client and an address in 15 minutes by default', async () => {
      const clock = new Clock()
      const { flow } = application({ store: memoryStore({ clock: clock.read }), clock: clock.read })
      await guessTimes(1, flow)
      clock.advance(600)
      await guessTimes(19, flow)
      const retryAfter = async () => (await come(flow, 'photo-print', 'guess')).headers['retry-after']
      expect(await retryAfter()).toBe('300')
      clock.advance(299)
      expect(await retryAfter()).toBe('1')
      clock.advance(1)
      await guessTimes(20, flow)
      expect(await retryAfter()).toBe('900')
    })

    test('has room for 500 failures of an address and for 1000 of a client', async () => {
      const added = new Map<string, number>()
      const counters = but(memoryStore(), {
        add: async (key) => {
          const kind = key.replace(/:[^:]*$/, '')
          added.set(kind, (added.get(kind) ?? 0) + 1)
          // The last failure that each has room for.
          return {
            count: kind === 'client:address' ? 500 : kind === 'client:client' ? 1000 : 20,
            secondsLeft: 900,
          }
        },
      })
      const { flow } = application({ counters })
      await guessTimes(1, flow)
      expect([...added.keys()]).toEqual(['client:address', 'client:clientAndAddress', 'client:client'])
      const fuller = (full: string, most: number) =>
        application({
          counters: but(memoryStore(), {
            add: async (key) => ({
              count: key.startsWith(`${full}:`) ? most + 1 : 1,
              secondsLeft: 900,
            }),
          }),
        })
      expect(await guess(fuller('client:address', 500).flow)).toBe(limited)
      expect(await guess(fuller('client:client', 1000).flow)).toBe(limited)
    })
  })

  describe('What is counted of guesses at client secrets', () => {
    test('stores no client or address in clear', async () => {
      const { keys, counters } = watchedCounters()
      await guess(application({ counters }).flow)
      expect(keys).toHaveLength(3)
      for (const key of keys) expect(key).toMatch(/^client:(?:address|clientAndAddress|client):[\w-]{43}$/)
    })

    test('is nothing of a generated secret that is right, nor of a chosen one from the second time on', async () => {
      const { keys, counters } = watchedCounters()
      const { flow } = application({ counters })
      await right(flow)
      expect(keys).toEqual([])
      await right(flow, photoFrame)
      const atFirst = keys.length
      await right(flow, photoFrame)
      expect(keys).toHaveLength(atFirst)
    })

    test('is nothing of a public client that names itself, as often as it does', async () => {
      const { keys, counters } = watchedCounters()
      const { flow } = application({ counters })
      for (const client_id of ['photo-book', 'photo-print', 'nobody'])
        await flow.submit('/token', { ...noGrant, client_id })
      expect(keys).toEqual([])
    })

    test.each([
      ['fail', async () => Promise.reject(new Error('connection refused'))],
      ['hang', async () => new Promise<never>(() => {})],
    ])('when counters %s: a guess is not looked at, and a generated secret passes', async (_, add) => {
      const counters = but(memoryStore(), { add })
      const { flow, failures } = application({ counters, storeDeadline: 0.05 })
      expect(await guess(flow, 'photo-frame')).toBe('400 temporarily_unavailable')
      expect(failures.map(({ reason }) => reason)).toEqual(['store_unavailable'])
      expect(await right(flow)).toBe(proven)
    })
  })

  describe('Methods of the host', () => {
    const worded = bent(nightlyReport, {
      client_id: 'worded',
      client_secret_hashes: [],
      credentials: { 'urn:example:word': 'kept' },
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://word.example/'],
    })
    const openWith = (limitedToo: boolean) =>
      application({
        clients: [...everyClient, worded].map(({ registration }) => registration),
        plugins: [{ name: 'host-methods', clientAuthenticationMethods: [method(limitedToo)] }],
        limits: { clientAuthentication: { clientAndAddress: three } },
      }).flow

    test('are not limited unless they say so', async () => {
      const flow = openWith(false)
      for (let time = 0; time < 10; time++) expect(await say(flow, 'shut')).toBe(wrong)
    })

    test('are held to the same limits when they say so', async () => {
      const flow = openWith(true)
      for (let time = 0; time < 3; time++) expect(await say(flow, 'shut')).toBe(wrong)
      expect(await say(flow, 'open')).toBe(limited)
    })
  })
})
