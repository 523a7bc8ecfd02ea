import { deviceStage, television } from '../support/flows/device-stage'

const letters = 'BCDFGHJKLMNPQRSTVWXZ'
let made = 0
/** A code that was not tried before. */
const guess = (): string => {
  let rest = made++
  return Array.from({ length: 8 }, () => {
    const letter = letters.charAt(rest % 20)
    rest = Math.floor(rest / 20)
    return letter
  }).join('')
}

const open = async (own = {}) => {
  const set = await deviceStage(television, [], { limits: { networks: false } }, own)
  set.app.set('trust proxy', 'loopback')
  const from = (address: string, owner: string, code = guess()) =>
    set.enter(code, owner, { 'X-Forwarded-For': address })
  /** Enters so many wrong codes. */
  const times = async (count: number, address: string, owner: string) => {
    for (let turn = 0; turn < count; turn++) expect((await from(address, owner)).status).toBe(400)
  }
  return { ...set, from, times }
}

describe('wrong user codes', () => {
  test('of one owner are limited, wherever they come from, and then no store is asked', async () => {
    const { from, times, body, store, clock, failures } = await open()
    await times(9, '192.0.2.1', 'mallory')
    await times(1, '198.51.100.1', 'mallory')
    const { find } = store.calls
    const over = await from('203.0.113.1', 'mallory', body.user_code)
    expect([over.status, over.get('Retry-After')]).toEqual([429, '900'])
    expect(over.text).toMatch(/too many wrong codes/)
    expect(failures.at(-1)).toMatchObject({ reason: 'user_code_owner_limited', endpoint: 'device' })
    expect(store.calls.find).toBe(find)
    expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
    clock.advance(900)
    expect((await from('203.0.113.1', 'mallory')).status).toBe(400)
  })

  test('of one network are limited, whoever enters them, and another network has no part in it', async () => {
    const { from, times, begin, body, store, clock, failures } = await open()
    for (const owner of ['a', 'b', 'c']) await times(10, '192.0.2.1', owner)
    const { find } = store.calls
    const shared = await from('192.0.2.1', 'alice', body.user_code)
    expect([shared.status, shared.get('Retry-After')]).toEqual([429, '900'])
    expect(failures.at(-1)).toMatchObject({ reason: 'user_code_network_limited' })
    expect(store.calls.find).toBe(find)
    expect((await from('192.0.2.2', 'alice', body.user_code)).status).toBe(200)
    // Who shares the network waits 15 minutes at most.
    clock.advance(900)
    const { body: later } = await begin()
    expect((await from('192.0.2.1', 'alice', later.user_code)).status).toBe(200)
  })

  test('of one subscriber of IPv6 are limited over all its networks', async () => {
    const { from, times } = await open({ guesses: { network: { attempts: 1, seconds: 60 }, owner: false } })
    for (const block of ['1', '2', '3', '4']) await times(1, `2001:db8:0:10${block}::1`, 'mallory')
    expect((await from('2001:db8:0:105::1', 'mallory')).status).toBe(429)
    expect((await from('2001:db8:0:200::1', 'mallory')).status).toBe(400)
  })

  test('do not count if they are right, come again, or look like no code', async () => {
    const { from, body, begin } = await open({ guesses: { owner: { attempts: 1 } } })
    for (let turn = 0; turn < 3; turn++)
      expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
    for (const typed of ['', 'AEIOU', 'x'.repeat(64)])
      expect((await from('192.0.2.1', 'alice', typed)).status).toBe(400)
    const { body: second } = await begin()
    expect((await from('192.0.2.1', 'alice', second.user_code)).status).toBe(200)
  })

  test('may be entered without end with the limits off', async () => {
    const { times, from, body } = await open({ guesses: false })
    await times(12, '192.0.2.1', 'alice')
    expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
  })

  test('of many, entered at once, no more than the limit reach the store', async () => {
    const { from, store } = await open()
    const { find } = store.calls
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => (await from('192.0.2.1', 'mallory')).status),
    )
    expect(statuses.filter((status) => status === 400)).toHaveLength(10)
    expect(store.calls.find - find).toBe(10)
  })

  test('find none, however many addresses and owners try, while the right owners come in', async () => {
    const { from, begin, store, decide, poll } = await open()
    const [addresses, each] = [8, 10]
    let found = 0
    for (let network = 0; network < addresses; network++) {
      const address = `10.${network >> 8}.${network & 255}.1`
      const answers = await Promise.all(
        Array.from({ length: each }, () => from(address, `mallory ${network}`)),
      )
      found += answers.filter(({ status }) => status === 200).length
      if (network % 4 !== 0) continue
      // A right owner elsewhere is never locked out.
      const { body } = await begin()
      const page = await from('192.0.2.7', 'alice', body.user_code)
      expect(page.status).toBe(200)
      await decide(page, 'approve')
      expect((await poll(television, { device_code: body.device_code })).status).toBe(200)
    }
    expect(found).toBe(0)
    expect(store.calls.find).toBeGreaterThan(addresses * each)
  })
})
