import { setImmediate as turn } from 'node:timers/promises'
import { memoryStore, type StoreWarning } from '../../lib/index'
import { holdStore } from '../../lib/server/lifecycle'

const issuer = 'https://auth.example'
const settled = async () => {
  for (let round = 0; round < 5; round++) await turn()
}

const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
beforeEach(() => void warned.mockClear())
const codes = () => warned.mock.calls.map(([, options]) => Object(options).code)

const closable = () => Object.assign(memoryStore(), { close: jest.fn(async () => {}) })
const looking = (check: () => Promise<readonly StoreWarning[]>, place?: string) => ({
  place,
  find: async () => undefined,
  save: async () => true,
  remove: async () => {},
  check: jest.fn(check),
})
const found = (code: string) => async () => [{ code, message: 'Change it.' }]
const looks = ({ check }: ReturnType<typeof looking>) => check.mock.calls.length

describe('a store that can be closed', () => {
  it('is closed by the last that lets go of it', async () => {
    const store = closable()
    const [first, second] = [holdStore(store, issuer), holdStore(store, issuer)]
    await first()
    expect(store.close).not.toHaveBeenCalled()
    await second()
    expect(store.close).toHaveBeenCalledTimes(1)
  })

  it('is waited for, and what it throws comes through', async () => {
    const store = closable()
    store.close.mockRejectedValue(new Error('half open'))
    await expect(holdStore(store, issuer)()).rejects.toThrow('half open')
  })

  it('is another one than its neighbour', async () => {
    const [one, other] = [closable(), closable()]
    holdStore(other, issuer)
    await holdStore(one, issuer)()
    expect([one, other].map(({ close }) => close.mock.calls.length)).toEqual([1, 0])
  })

  it('need not be: three verbs are enough', async () => {
    await expect(holdStore(memoryStore(), issuer)()).resolves.toBeUndefined()
  })
})

describe('a store that two issuers share', () => {
  it('is warned of, once, and one that servers of one issuer share is not', () => {
    const [store, shared] = [memoryStore(), memoryStore()]
    for (let round = 0; round < 2; round++) void [holdStore(store, issuer), holdStore(shared, issuer)]
    expect(warned).not.toHaveBeenCalled()
    for (let round = 0; round < 2; round++) holdStore(shared, 'https://other.example')
    expect(warned.mock.calls).toEqual([
      [
        expect.stringContaining(
          'The issuers https://auth.example and https://other.example share one store.',
        ),
        { type: 'AuthorizationServerWarning', code: 'EAS_SHARED_STORE' },
      ],
    ])
  })
})

describe('a store that looks at its surroundings', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] })
  })
  afterEach(() => jest.useRealTimers())

  it('does so once, for its first holder', async () => {
    const store = looking(found('EAS_TEST_ONCE'))
    holdStore(store, issuer)
    holdStore(store, issuer)
    await settled()
    await jest.advanceTimersByTimeAsync(3_600_000)
    expect([looks(store), codes()]).toEqual([1, ['EAS_TEST_ONCE']])
  })

  it('tries again until it is there, less and less often, and holds no process open', async () => {
    let attempts = 0
    const store = looking(async () => {
      attempts += 1
      if (attempts <= 8) throw new Error('ECONNREFUSED')
      return [{ code: 'EAS_TEST_LATE', message: 'Change it.' }]
    }, 'Redis at late:6379')
    holdStore(store, issuer)
    await settled()
    // A client that refuses commands until it is connected may be about to be.
    expect([looks(store), codes()]).toEqual([1, []])
    await jest.advanceTimersByTimeAsync(1000)
    expect([looks(store), codes()]).toEqual([2, ['EAS_STORE_UNREACHABLE']])
    // 1, 2, 4, 8, 16, 32, 60 and 60 seconds.
    await jest.advanceTimersByTimeAsync(181_000)
    expect([looks(store), codes()]).toEqual([8, ['EAS_STORE_UNREACHABLE']])
    await jest.advanceTimersByTimeAsync(1000)
    expect([looks(store), codes()]).toEqual([9, ['EAS_STORE_UNREACHABLE', 'EAS_TEST_LATE']])
    await jest.advanceTimersByTimeAsync(3_600_000)
    expect(looks(store)).toBe(9)
  })

  it('is warned of with its place and the cause, once for each place, when it cannot look', async () => {
    for (const [trouble, place] of [
      [new Error('connect ECONNREFUSED'), 'Redis at one:6379'],
      [new Error('NOAUTH Authentication required.'), 'Redis at one:6379'],
      [new Error('Command timed out'), 'Redis at two:6379'],
    ] as const)
      holdStore(
        looking(() => Promise.reject(trouble), place),
        issuer,
      )
    await jest.advanceTimersByTimeAsync(1000)
    expect(warned.mock.calls.map(([message]) => String(message).split('. ')[0])).toEqual([
      'Redis at one:6379 cannot be used (connect ECONNREFUSED)',
      'Redis at two:6379 cannot be used (Command timed out)',
    ])
  })

  it('is warned of when it does not answer within 5 s, whatever its client waits for', async () => {
    const release = holdStore(
      looking(() => new Promise(() => {}), 'Redis at silent:6379'),
      issuer,
    )
    await jest.advanceTimersByTimeAsync(4999)
    expect(codes()).toEqual([])
    await jest.advanceTimersByTimeAsync(1)
    expect(warned.mock.calls.map(([message]) => message)).toEqual([
      expect.stringMatching(/^Redis at silent:6379 cannot be used \(it did not answer within 5 s\)\./),
    ])
    await release()
  })

  it('stops when it is closed: no further look, and no warning of one that was under way', async () => {
    const store = looking(() => Promise.reject(new Error('ECONNREFUSED')))
    const release = holdStore(store, issuer)
    await settled()
    await release()
    await jest.advanceTimersByTimeAsync(3_600_000)
    expect([looks(store), jest.getTimerCount()]).toEqual([1, 0])
    warned.mockClear()

    const running = looking(found('EAS_TEST_RUNNING'))
    await holdStore(running, issuer)()
    const failing = looking(() => Promise.reject(new Error('ECONNREFUSED')))
    await holdStore(failing, issuer)()
    await settled()
    expect([codes(), jest.getTimerCount()]).toEqual([[], 0])
  })

  it('harms no holder when it throws at once', async () => {
    const store = looking(() => {
      throw new Error('no connection')
    })
    const release = holdStore(store, issuer)
    await settled()
    expect(looks(store)).toBe(1)
    await release()
  })
})
