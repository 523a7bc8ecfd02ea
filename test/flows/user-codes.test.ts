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
    const { from, times, body, clock, failures } = await open()
    await times(9, '192.0.2.1', 'mallory')
    await times(1, '198.51.100.1', 'mallory')
    const over = await from('203.0.113.1', 'mallory', body.user_code)
    expect([over.status, over.get('Retry-After')]).toEqual([429, '900'])
    expect(over.text).toMatch(/too many wrong codes/)
    expect(failures.at(-1)).toMatchObject({ reason: 'user_code_owner_limited', endpoint: 'device' })
    expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
    clock.advance(900)
    expect((await from('203.0.113.1', 'mallory')).status).toBe(400)
  })

  test('of one network are limited, whoever enters them, and another network has no part in it', async () => {
    const { from, times, begin, body, clock, failures } = await open()
    for (const owner of ['a', 'b', 'c']) await times(10, '192.0.2.1', owner)
    const shared = await from('192.0.2.1', 'alice', body.user_code)
    expect([shared.status, shared.get('Retry-After')]).toEqual([429, '900'])
    expect(failures.at(-1)).toMatchObject({ reason: 'user_code_network_limited' })
    expect((await from('192.0.2.2', 'alice', body.user_code)).status).toBe(200)
    // Who shares the network waits 15 minutes at most.
    clock.advance(900)
    const { body: later } = await begin()
    expect((await from('192.0.2.1', 'alice', later.user_code)).status).toBe(200)
  })

  test('of one subscriber of IPv6 are limited over all its networks', async () => {
    const { from, times } = await open({ guesses: { network: { attempts: 1, seconds: 60 }, owner: false } })
    for (let block = 0; block < 16; block++) await times(1, `2001:db8:0:1${block.toString(16)}::1`, 'mallory')
    expect((await from('2001:db8:0:200::1', 'mallory')).status).toBe(429)
    expect((await from('2001:db8:1:200::1', 'mallory')).status).toBe(400)
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
    await times(11, '192.0.2.1', 'alice')
    expect((await from('192.0.2.1', 'alice', body.user_code)).status).toBe(200)
  })

  test('that are entered at once pass the limit no more than others, and the right owner elsewhere comes in', async () => {
    const { from, body, decide, poll } = await open()
    const answers = await Promise.all(Array.from({ length: 14 }, () => from('192.0.2.1', 'mallory')))
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    await decide(await from('192.0.2.7', 'alice', body.user_code), 'approve')
    expect((await poll()).status).toBe(200)
  })
})
