import * as fc from 'fast-check'
import { BoundedMap, ExpiringMap } from '../../lib/primitives/maps'
import { nearestName } from '../../lib/primitives/configuration-error'

const options = ['accessTokenLifetime', 'clients', 'clock', 'issuer', 'resourceOwner', 'scopes', 'store']
const fields = ['client_id', 'client_name', 'client_secret_hashes', 'client_type', 'redirect_uris', 'scope']

test.each<[string, readonly string[], string | undefined]>([
  ['isuer', options, 'issuer'],
  ['isseur', options, 'issuer'],
  ['Issuer', options, 'issuer'],
  ['client', options, 'clients'],
  ['accessTokenLifeTime', options, 'accessTokenLifetime'],
  ['access_token_lifetime', options, 'accessTokenLifetime'],
  ['accessToken', options, 'accessTokenLifetime'],
  ['tore', options, 'store'],
  ['kyes', ['keys'], 'keys'],
  ['ownerResource', options, undefined],
  ['cors', options, undefined],
  ['x', options, undefined],
  ['', options, undefined],
  ['__proto__', options, undefined],
  ['constructor', options, undefined],
  ['issuer'.repeat(100_000), options, undefined],
  ['clientId', fields, 'client_id'],
  ['redirect_uri', fields, 'redirect_uris'],
  ['redirectUris', fields, 'redirect_uris'],
  ['client_secret_hash', fields, 'client_secret_hashes'],
  ['clientname', fields, 'client_name'],
  ['type', fields, undefined],
])('the name that a misspelt one means: %.30s', (misspelt, known, nearest) => {
  expect(nearestName(misspelt, known)).toBe(nearest)
})

const keys = ['', '__proto__', 'a', 'b', 'c', 'd']
const key = fc.constantFrom(...keys)
const act = fc.oneof(
  fc.record({ act: fc.constant('set' as const), key, seconds: fc.integer({ min: 1, max: 2000 }) }),
  fc.record({ act: fc.constant('delete' as const), key }),
  fc.record({ act: fc.constant('wait' as const), seconds: fc.nat({ max: 800 }) }),
)

test('an expiring map of 4 keys answers, in any history, as a plain one that forgets in time and refuses a new key when it is full', () => {
  const history = fc.property(fc.array(act, { maxLength: 100, size: 'max' }), (acts) => {
    let now = 1_000_000
    const map = new ExpiringMap<number>(4, () => now)
    const model = new Map<string, { readonly value: number; readonly end: number }>()
    const wrong: unknown[] = []
    for (const [value, one] of acts.entries()) {
      if (one.act === 'wait') now += one.seconds * 1000
      for (const [known, { end }] of model) if (end <= now) model.delete(known)
      if (one.act === 'delete') {
        map.delete(one.key)
        model.delete(one.key)
      }
      if (one.act === 'set') {
        const end = now + one.seconds * 1000
        const hasRoom = model.size < 4 || model.has(one.key)
        if (map.set(one.key, value, end) !== hasRoom) wrong.push(['room', one])
        if (hasRoom) model.set(one.key, { value, end })
      }
      wrong.push(...keys.filter((known) => map.get(known) !== model.get(known)?.value))
    }
    expect(wrong).toEqual([])
  })
  fc.assert(history, { seed: 20_261_126, numRuns: 60 })
})

test('an expiring map takes as long to forget an entry, and to set one again, however many end in the same second', () => {
  let now = 1_000_000
  const map = new ExpiringMap<number>(500_000, () => now)
  for (let entry = 0; entry < 200_000; entry++) map.set(`key ${entry}`, entry, now + 5000)
  now += 10_000
  const before = process.cpuUsage().user
  for (let entry = 0; entry < 50_000; entry++) map.set('the same key', entry, now + 5000)
  const seconds = (process.cpuUsage().user - before) / 1e6
  expect(map.get('key 199999')).toBeUndefined()
  expect(map.get('the same key')).toBe(49_999)
  expect(seconds).toBeLessThan(2)
})

test('a bounded map keeps the keys that were put there last, and a look is no use', () => {
  const history = fc.property(fc.array(key, { maxLength: 40 }), (puts) => {
    const map = new BoundedMap<number>(3)
    let model: readonly (readonly [string, number])[] = []
    const wrong: unknown[] = []
    for (const [value, name] of puts.entries()) {
      map.set(name, value)
      model = [...model.filter(([known]) => known !== name), [name, value] as const].slice(-3)
      wrong.push(...keys.filter((known) => map.get(known) !== model.find(([one]) => one === known)?.[1]))
    }
    expect(wrong).toEqual([])
  })
  fc.assert(history, { seed: 20_261_126 })
})
