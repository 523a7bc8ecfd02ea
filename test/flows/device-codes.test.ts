import { type AuthorizationStore, memoryStore } from '../../lib/index'
import { deviceStage, television } from '../support/flows/device-stage'
import { outcomeOf } from '../support/flows/outcome'

test('A user code is two times four letters without vowels, and a new one each time', async () => {
  const { begin } = await deviceStage()
  const codes = await Promise.all(
    Array.from({ length: 60 }, async () => String((await begin()).body.user_code)),
  )
  for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  expect(new Set(codes).size).toBe(60)
  // Of 480 letters, each of the 20 comes up, but once in many billion runs.
  expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(20)
})

test('All processes find a code that one of them gave, and no other issuer on their store does', async () => {
  const store = memoryStore()
  const { body, clock } = await deviceStage(television, [], { store })
  const statusAt = async (bend: object) => {
    const { enter } = await deviceStage(television, [], { store, clock: clock.read, ...bend })
    return (await enter(body.user_code, 'alice', {})).status
  }
  expect([await statusAt({}), await statusAt({ issuer: 'http://127.0.0.1' })]).toEqual([200, 400])
})

test('The store holds no code, and after the decision nothing more of the request', async () => {
  const written: string[] = []
  const inner = memoryStore()
  const store: AuthorizationStore = {
    find: (id) => inner.find(id),
    remove: (id) => inner.remove(id),
    save: (authorization, ...rest) => {
      written.push(JSON.stringify(authorization))
      return inner.save(authorization, ...rest)
    },
  }
  const { body, enter, decide, poll } = await deviceStage(television, [], { store })
  await decide(await enter(), 'approve')
  await poll()
  for (const secret of [body.user_code, body.user_code.replace('-', ''), body.device_code])
    expect(written.join()).not.toContain(secret)
  expect(written.map((record) => record.includes('127.0.0.1'))).toEqual([true, true, false, false])
})

test('A device gets another code if a live authorization has the first one', async () => {
  const inner = memoryStore()
  let taken = 0
  const store: AuthorizationStore = {
    find: (id) => inner.find(id),
    remove: (id) => inner.remove(id),
    save: async (authorization, revision, expected) => {
      const saved = await inner.save(authorization, revision, expected)
      return expected === undefined && taken-- > 0 ? false : saved
    },
  }
  const { begin, enter } = await deviceStage(television, [], { store })
  taken = 2
  const { body, status } = await begin()
  expect([status, (await enter(body.user_code)).status]).toEqual([200, 200])
  taken = 100
  expect((await begin()).status).toBe(500)
})

test('A store in trouble is no wrong code: nothing is counted', async () => {
  const { store, enter } = await deviceStage(television, [], {}, { guesses: { owner: { attempts: 2 } } })
  store.begin('fails', 'find')
  for (let turn = 0; turn < 4; turn++)
    expect(outcomeOf(await enter())).toBe('page 503 temporarily_unavailable')
  store.recover()
  expect((await enter()).status).toBe(200)
})
