import bcrypt from 'bcrypt'
import { memoryStore, type Counters } from '../../lib/index'
import { application } from '../support/flows/application'
import { bent, everyClient, nightlyReport, photoFrame } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import type { Flow } from '../support/flows/flow'
import { come, guess, guessTimes, limited, noGrant, proven, right, wrong } from '../support/flows/guesses'
import { refusalOf } from '../support/flows/tokens'
import { watchedCounters } from '../support/watched-counters'

const three = { attempts: 3 }

// The comparisons are real; only their number is looked at.
const compare = jest.spyOn(bcrypt, 'compare')
beforeEach(() => compare.mockClear())

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
  test('has room for 20 failures of a client and an address in 15 minutes, unless told otherwise', async () => {
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
    const counters: Counters = {
      add: async (key) => {
        const kind = key.replace(/:[^:]*$/, '')
        added.set(kind, (added.get(kind) ?? 0) + 1)
        // The last failure that each has room for.
        return {
          count: kind === 'client:address' ? 500 : kind === 'client:client' ? 1000 : 20,
          secondsLeft: 900,
        }
      },
      useOnce: async () => true,
    }
    const { flow } = application({ counters })
    await guessTimes(1, flow)
    expect([...added.keys()]).toEqual(['client:address', 'client:clientAndAddress', 'client:client'])
    const fuller = (full: string, most: number) =>
      application({
        counters: {
          ...counters,
          add: async (key) => ({ count: key.startsWith(`${full}:`) ? most + 1 : 1, secondsLeft: 900 }),
        },
      })
    expect(await guess(fuller('client:address', 500).flow)).toBe(limited)
    expect(await guess(fuller('client:client', 1000).flow)).toBe(limited)
  })
})

describe('What is counted of guesses at client secrets', () => {
  test('names nobody in clear', async () => {
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
    const counters: Counters = { add, useOnce: async () => true }
    const { flow, failures } = application({ counters, storeDeadline: 0.05 })
    expect(await guess(flow, 'photo-frame')).toBe('400 temporarily_unavailable')
    expect(failures.map(({ reason }) => reason)).toEqual(['store_unavailable'])
    expect(compare).not.toHaveBeenCalled()
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
      clientAuthenticationMethods: [method(limitedToo)],
      clientAuthenticationLimits: { clientAndAddress: three },
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
