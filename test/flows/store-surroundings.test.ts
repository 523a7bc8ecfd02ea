import { setImmediate as turn } from 'node:timers/promises'
import {
  type AuthorizationStore,
  createAuthorizationServer,
  memoryStore,
  type StoreWarning,
} from '../../lib/index'
import { canonicalOptions } from '../support/flows/application'

const settled = async () => {
  for (let round = 0; round < 5; round++) await turn()
}
const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
beforeEach(() => {
  warned.mockClear()
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'Date'] })
})
afterEach(() => jest.useRealTimers())

/** The warnings, as `CODE text`. */
const warnings = () => warned.mock.calls.map(([text, options]) => `${Object(options).code} ${String(text)}`)
const codes = () => warnings().map((warning) => warning.split(' ')[0])

const serverOn = (store: AuthorizationStore, issuer = canonicalOptions.issuer) =>
  createAuthorizationServer({ ...canonicalOptions, issuer, store })

/** A store that looks at its surroundings, and counts how often. */
function looking(check: () => Promise<readonly StoreWarning[]>, place?: string) {
  const looks = { count: 0 }
  const store = Object.assign(memoryStore(), {
    ...(place !== undefined && { place }),
    check: () => {
      looks.count += 1
      return check()
    },
  })
  return { store, looks }
}
const refused = () => Promise.reject(new Error('ECONNREFUSED'))

test('A store is closed by the last server that lets go of it, and what it throws comes through', async () => {
  let closed = 0
  const close = async () => {
    closed += 1
    throw new Error('half open')
  }
  const store = Object.assign(memoryStore(), { close })
  const [first, second] = [serverOn(store), serverOn(store)]
  serverOn(Object.assign(memoryStore(), { close }))
  await first.close()
  expect(closed).toBe(0)
  await expect(second.close()).rejects.toThrow('half open')
  expect(closed).toBe(1)
})

test('A store that two issuers share causes one warning, and one that servers of one issuer share causes none', () => {
  const [store, shared] = [memoryStore(), memoryStore()]
  for (let round = 0; round < 2; round++) for (const each of [store, shared]) serverOn(each)
  expect(warnings()).toEqual([])
  for (let round = 0; round < 2; round++) serverOn(shared, 'https://other.example')
  expect(warnings()).toEqual([
    expect.stringMatching(
      /^EAS_SHARED_STORE The issuers http:\/\/localhost and https:\/\/other\.example share one store\./,
    ),
  ])
})

describe('A store that looks at its surroundings', () => {
  test('does so once, for its first server', async () => {
    const { store, looks } = looking(async () => [{ code: 'EAS_TEST_ONCE', message: 'Change it.' }])
    for (let servers = 0; servers < 2; servers++) serverOn(store)
    await settled()
    await jest.advanceTimersByTimeAsync(3_600_000)
    expect([looks.count, codes()]).toEqual([1, ['EAS_TEST_ONCE']])
  })

  test('tries again until it can, less and less often', async () => {
    let attempts = 0
    const { store, looks } = looking(async () => {
      attempts += 1
      if (attempts <= 8) throw new Error('ECONNREFUSED')
      return [{ code: 'EAS_TEST_LATE', message: 'Change it.' }]
    }, 'Redis at late:6379')
    serverOn(store)
    await settled()
    // A client that refuses commands until it is connected may be about to be.
    expect([looks.count, codes()]).toEqual([1, []])
    await jest.advanceTimersByTimeAsync(1000)
    expect([looks.count, codes()]).toEqual([2, ['EAS_STORE_UNREACHABLE']])
    // 1, 2, 4, 8, 16, 32, 60 and 60 seconds.
    await jest.advanceTimersByTimeAsync(181_000)
    expect(looks.count).toBe(8)
    await jest.advanceTimersByTimeAsync(1000)
    expect([looks.count, codes()]).toEqual([9, ['EAS_STORE_UNREACHABLE', 'EAS_TEST_LATE']])
    await jest.advanceTimersByTimeAsync(3_600_000)
    expect(looks.count).toBe(9)
  })

  test('is warned of with its place and the cause, once for each place, when it cannot', async () => {
    for (const [trouble, place] of [
      ['ECONNREFUSED', 'Redis at one:6379'],
      ['NOAUTH', 'Redis at one:6379'],
      ['Command timed out', 'Redis at two:6379'],
    ])
      serverOn(looking(() => Promise.reject(new Error(trouble)), place).store)
    await jest.advanceTimersByTimeAsync(1000)
    expect(warnings().map((text) => text.split('. ')[0])).toEqual([
      'EAS_STORE_UNREACHABLE Redis at one:6379 cannot be used (ECONNREFUSED)',
      'EAS_STORE_UNREACHABLE Redis at two:6379 cannot be used (Command timed out)',
    ])
  })

  test('is warned of when it does not answer within 5 s', async () => {
    serverOn(looking(() => new Promise(() => {}), 'Redis at silent:6379').store)
    await jest.advanceTimersByTimeAsync(4999)
    expect(codes()).toEqual([])
    await jest.advanceTimersByTimeAsync(1)
    expect(warnings()).toEqual([
      expect.stringContaining('Redis at silent:6379 cannot be used (it did not answer within 5 s)'),
    ])
  })

  test('stops when its server closes, and harms none by what it throws', async () => {
    const { store, looks } = looking(refused)
    let answer: (found: readonly StoreWarning[]) => void = () => {}
    const running = looking(() => new Promise((resolve) => (answer = resolve)))
    const broken = looking(() => {
      throw new Error('no connection')
    })
    const servers = [store, running.store, broken.store].map((each) => serverOn(each))
    await Promise.all(servers.map((server) => server.close()))
    answer([{ code: 'EAS_TEST_RUNNING', message: 'Change it.' }])
    await settled()
    await jest.advanceTimersByTimeAsync(3_600_000)
    expect([looks.count, running.looks.count, broken.looks.count, codes()]).toEqual([1, 1, 1, []])
  })
})

const day = 24 * 3600
test.each([
  ['twice the longest life of a token', {}, 60 * day],
  ['as long as a consent counts, if that is longer', { rememberConsent: { seconds: 365 * day } }, 365 * day],
])('The mark of a revoked client lasts %s', async (_what, options, least) => {
  const store = memoryStore()
  const lasting: number[] = []
  store.index.revokeClient = async (_client, _at, seconds) => void lasting.push(seconds)
  const oauth = createAuthorizationServer({ ...canonicalOptions, store, authorizations: true, ...options })
  await oauth.authorizations.revokeClient('photo-print')
  expect(lasting).toEqual([expect.any(Number)])
  expect(lasting[0]).toBeGreaterThanOrEqual(least)
  expect(lasting[0]).toBeLessThan(least + day)
})
