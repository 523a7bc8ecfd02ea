import { OAuthError } from '../../lib/protocol/oauth-error'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { isDeadline, withDeadline, withinDeadline } from '../../lib/stores/deadline'
import { memoryStore } from '../../lib/stores/memory-store'
import { runInNode } from '../support/stores/node-program'
import { findRecord, saveRecord, threeVersions } from '../../lib/testing/example-records'

const [first, second] = threeVersions()
const verbs: [string, (store: AuthorizationStore) => Promise<unknown>][] = [
  ['find', (store) => findRecord(store, first)],
  ['save', (store) => saveRecord(store, first)],
  ['remove', (store) => store.remove(first.authorization.id)],
]

function storeThat(answers: () => Promise<never>): AuthorizationStore {
  return { find: answers, save: answers, remove: answers }
}

function refusalOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  )
}

/** Milliseconds: two ticks of the timer that counts for all deadlines. */
const aMoment = 50

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(async () => {
  await jest.advanceTimersByTimeAsync(aMoment)
  jest.useRealTimers()
})

describe.each(verbs)('withDeadline: %s', (_verb, call) => {
  it('is temporarily_unavailable when the store never answers: at the deadline and not before [store-3]', async () => {
    const settled = jest.fn()
    const refusal = refusalOf(
      call(
        withDeadline(
          storeThat(() => new Promise(() => {})),
          0.5,
        ),
      ),
    )
    void refusal.then(settled)
    await jest.advanceTimersByTimeAsync(499)
    expect(settled).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(1 + aMoment)
    expect(settled).toHaveBeenCalledTimes(1)
    const error = await refusal
    expect(error).toBeInstanceOf(OAuthError)
    expect(error).toMatchObject({
      code: 'temporarily_unavailable',
      reason: 'store_unavailable',
      cause: new Error('The store did not answer within 0.5 s.'),
    })
  })

  it('names the place of the store, if it has one, and keeps class and code of the error', async () => {
    const place = 'Redis at localhost:6379'
    const silent = storeThat(() => new Promise(() => {}))
    const late = refusalOf(call(withDeadline(Object.assign(silent, { place }), 0.5)))
    await jest.advanceTimersByTimeAsync(500 + aMoment)
    expect(await late).toMatchObject({ cause: { message: `${place} did not answer within 0.5 s.` } })
    const refused = Object.assign(new TypeError('no $& route'), { code: 'EHOSTUNREACH' })
    const failing = storeThat(() => Promise.reject(refused))
    const { cause } = Object(await refusalOf(call(withDeadline(Object.assign(failing, { place }), 0.5))))
    expect(cause).toMatchObject({ name: 'TypeError', code: 'EHOSTUNREACH', message: `${place}: no $& route` })
    expect(cause.stack).toContain(`TypeError: ${place}: no $& route\n`)
    expect(refused.message).toBe('no $& route')
  })

  it.each<[string, (cause: Error) => Promise<never>]>([
    ['rejects', (cause) => Promise.reject(cause)],
    [
      'throws',
      (cause) => {
        throw cause
      },
    ],
  ])(
    'is temporarily_unavailable at once when the store %s, with the cause only on the error',
    async (_how, fail) => {
      const cause = new Error('password authentication failed for 10.0.0.7')
      const error = await refusalOf(
        call(
          withDeadline(
            storeThat(() => fail(cause)),
            0.5,
          ),
        ),
      )
      expect(error).toBeInstanceOf(OAuthError)
      expect(error).toMatchObject({ code: 'temporarily_unavailable', reason: 'store_unavailable', cause })
      expect(error).toHaveProperty('description', 'The server is temporarily unable to answer.')
    },
  )
})

describe('withDeadline', () => {
  it('passes on what the store is asked and what it answers', async () => {
    const store = withDeadline(memoryStore(), 60)
    expect(await findRecord(store, first)).toBeUndefined()
    expect(await saveRecord(store, first)).toBe(true)
    expect(await saveRecord(store, second)).toBe(false)
    expect(await saveRecord(store, second, first)).toBe(true)
    expect(await findRecord(store, first)).toEqual(second)
    await store.remove(first.authorization.id)
    expect(await findRecord(store, first)).toBeUndefined()
  })

  it('passes on what the store recalls, at once and without a timer', () => {
    const getCached = jest.fn(() => first)
    const store = withDeadline({ ...storeThat(() => new Promise(() => {})), getCached }, 60)
    expect(store.getCached?.('an id')).toBe(first)
    expect(getCached.mock.calls).toEqual([['an id']])
    expect(jest.getTimerCount()).toBe(0)
    expect(withDeadline(memoryStore(), 60).getCached?.('an id')).toBeUndefined()
  })

  it('asks the store to confirm that nothing is there, and not a store that cannot', async () => {
    const confirmAbsent = jest.fn(async () => false)
    const store = withDeadline({ ...memoryStore(), confirmAbsent }, 60)
    expect(await store.confirmAbsent?.('an id')).toBe(false)
    expect(confirmAbsent.mock.calls).toEqual([['an id']])
    expect(withDeadline(memoryStore(), 60).confirmAbsent).toBeUndefined()
  })

  it('takes an answer that comes just before the deadline', async () => {
    const answer = withinDeadline(
      () => new Promise((resolve) => setTimeout(resolve, 499, 'just in time')),
      0.5,
    )
    await jest.advanceTimersByTimeAsync(499)
    expect(await answer).toBe('just in time')
  })

  it('needs one timer for all calls that wait, and leaves none behind', async () => {
    const store = withDeadline(memoryStore(), 60)
    await Promise.all([findRecord(store, first), findRecord(store, second), saveRecord(store, first)])
    expect(jest.getTimerCount()).toBe(1)
    await jest.advanceTimersByTimeAsync(aMoment)
    expect(jest.getTimerCount()).toBe(0)
  })

  it('lets a process end whose store rejects after the deadline', () => {
    const { status, output } = runInNode(`
      const { withinDeadline } = require('./lib/stores/deadline')
      const late = () => new Promise((_, reject) => setTimeout(reject, 50, new Error('late')))
      withinDeadline(late, 0.01).catch(({ code }) => console.log(code))
    `)
    expect({ status, output }).toEqual({ status: 0, output: 'temporarily_unavailable\n' })
  })

  it('holds no process until the deadline when the store has answered', () => {
    const { status, output } = runInNode(`
      const { withinDeadline } = require('./lib/stores/deadline')
      withinDeadline(async () => 'answer', 60).then(console.log)
    `)
    expect({ status, output }).toEqual({ status: 0, output: 'answer\n' })
  })
})

describe('isDeadline', () => {
  it('accepts a time that a timer can keep and a client may wait', () => {
    const values = [0.5, 60, 0, -1, 61, Infinity, NaN, '1', null]
    expect(values.filter((value) => isDeadline(value))).toEqual([0.5, 60])
  })
})
