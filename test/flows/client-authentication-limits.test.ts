import bcrypt from 'bcrypt'
import { createHash } from 'node:crypto'
import type { ClientAuthenticationLimits } from '../../lib/index'
import type { Hosting } from '../support/flows/application'
import { photoFrame } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import {
  come,
  countOf,
  from,
  guess,
  guessTimes,
  limited,
  proven,
  right,
  trusting,
  wrong,
} from '../support/flows/guesses'
import { refusalOf } from '../support/flows/tokens'

const off = { address: false, clientAndAddress: false, client: false } as const
const three = { attempts: 3 }

// The comparisons are real; only their number is looked at.
const compare = jest.spyOn(bcrypt, 'compare')
beforeEach(() => compare.mockClear())

const open = (stage: SetStage, limits: ClientAuthenticationLimits | false, hosting?: Hosting) =>
  stage({ clientAuthenticationLimits: limits }, hosting)

describeOnStores('Guessing at client secrets', (stage) => {
  test.each([
    ['photo-print', 'photo-print'],
    ['photo-frame', 'photo-frame'],
    ['photo-book', 'photo-book'],
    ['nobody', createHash('sha256').update('nobody').digest('hex').slice(0, 8)],
  ])('is limited per client and address: %s [store-12]', async (clientId, told) => {
    const { flow, failures } = open(stage, { ...off, clientAndAddress: three })
    await guessTimes(3, flow, clientId)
    const response = await come(flow, clientId, 'guess')
    expect(refusalOf(response)).toBe(limited)
    expect(response.headers['retry-after']).toMatch(/^[1-9]\d*$/)
    expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(900)
    expect(failures.at(-1)).toMatchObject({ reason: 'client_and_address_limited', clientId: told })
  })

  test('has one answer, whichever limit it is and whether there is such a client', async () => {
    const texts = new Set<string>()
    for (const limits of [{ address: three }, { clientAndAddress: three }, { client: three }])
      for (const clientId of ['photo-frame', 'nobody']) {
        const { flow } = open(stage, { ...off, ...limits })
        await guessTimes(3, flow, clientId)
        texts.add((await come(flow, clientId, 'guess')).text)
      }
    expect([...texts]).toHaveLength(1)
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

  test('believes X-Forwarded-For only where the host trusts its proxy, and then its last word [store-19]', async () => {
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
    for (let time = 0; time < 25; time++) expect(await guess(flow)).toBe(wrong)
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

  test('of 200 at once on two processes as many are looked at as the limit says [store-21]', async () => {
    const limits = { clientAndAddress: { attempts: 20 } }
    const first = open(stage, limits)
    const second = open((options) => stage({ ...options, store: first.store }), limits)
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, at) => guess(at % 2 === 0 ? first.flow : second.flow, 'photo-frame')),
    )
    expect([countOf(outcomes, wrong), countOf(outcomes, limited)]).toEqual([20, 180])
    expect(compare).toHaveBeenCalledTimes(20)
    expect(await guess(second.flow, 'photo-frame')).toBe(limited)
    expect(await guess(first.flow, 'photo-frame')).toBe(limited)
  })

  test('is not what a client does that comes with its chosen secret many times at once', async () => {
    const { flow } = open(stage, { clientAndAddress: three })
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => right(flow, photoFrame)))
    expect(countOf(outcomes, proven)).toBe(50)
    await guessTimes(3, flow, 'photo-frame')
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
