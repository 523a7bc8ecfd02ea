import bcrypt from 'bcrypt'
import { bcryptPasswords, type Counters, memoryCounters } from '../../lib/index'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoFrame } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { basic } from '../support/flows/flow'
import { Gate } from '../support/flows/gate'
import { countOf, from, guess, proven, right, trusting, wrong } from '../support/flows/guesses'
import { oldPrint, passwordRequest, withPassword } from '../support/flows/password'
import { describeOnStores } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { waitUntil } from '../support/wait-until'

const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

describeOnStores('A client secret', (stage) => {
  test('that a person chose is verified by bcrypt, again and again, and a wrong one is not', async () => {
    const { flow, failures } = stage()
    for (let turn = 0; turn < 3; turn += 1) {
      tokensOf(await flow.redeem(photoFrame, await flow.approve(photoFrame)))
      const guessing = { ...photoFrame, secret: `${photoFrame.secret}.` }
      expect(refusalOf(await flow.redeem(guessing, 'x'))).toBe('401 invalid_client')
    }
    expect(failures).toHaveLength(3)
  })

  test('counts for the registered method only, where one is registered', async () => {
    const { client_id } = nightlyReport.registration
    const byBasic = { Authorization: basic(client_id, nightlyReport.secret) }
    const byBody = { client_id, client_secret: nightlyReport.secret }
    for (const [method, basicGets, bodyGets] of [
      ['client_secret_basic', 200, 401],
      ['client_secret_post', 401, 200],
    ] as const) {
      const client = bent(nightlyReport, { token_endpoint_auth_method: method })
      const { flow } = stage({ clients: [client.registration] })
      expect((await flow.submit('/token', grant, undefined, byBasic)).status).toBe(basicGets)
      expect((await flow.submit('/token', { ...grant, ...byBody })).status).toBe(bodyGets)
    }
  })
})

describe('More secrets than bcrypt can verify', () => {
  const busy = '400 temporarily_unavailable'
  const addresses = Array.from({ length: 40 }, (_, at) => `192.0.2.${at}`)

  // The comparisons are real, and wait until the test lets them.
  const real = bcrypt.compare.bind(bcrypt)
  let gate: Gate
  const compare = jest.spyOn(bcrypt, 'compare')
  beforeEach(() => {
    compare.mockReset()
    compare.mockImplementation(async (secret, digest) => real(secret, digest))
    gate = new Gate()
  })
  // A test that fails must leave no request waiting.
  afterEach(() => gate.open())
  /** Counters, and what is counted in the end, by the kind of count. */
  const watchedCounters = () => {
    const inner = memoryCounters()
    const counted: Record<string, number> = {}
    const counters: Counters = {
      add: async (key, amount, seconds) => {
        const kind = key.replace(/:[^:]*$/, '')
        counted[kind] = (counted[kind] ?? 0) + amount
        return inner.add(key, amount, seconds)
      },
      useOnce: async (key, seconds) => inner.useOnce(key, seconds),
    }
    return { counters, counted }
  }

  /** A server of which 40 strangers, each from an address of its own, ask more than it can verify. */
  async function besieged() {
    const { counters, counted } = watchedCounters()
    const clock = new Clock()
    const passwordHash = bcrypt.hashSync('wonderland', 4)
    const verify = bcryptPasswords((username) => ({ subject: username, passwordHash }))
    const { grantTypes, clients } = withPassword({ verify })
    const options = {
      counters,
      clock: clock.read,
      grantTypes,
      clients: [...clients, photoFrame.registration],
    }
    const { flow, failures } = application(options, trusting)
    expect(await right(flow, photoFrame)).toBe(proven)
    compare.mockImplementation(async (secret, digest) => {
      await gate.pass()
      return real(secret, digest)
    })
    const answers: string[] = []
    const siege = Promise.all(
      addresses.map(async (address) => {
        answers.push(await guess(from({ flow }, address), 'photo-frame'))
      }),
    )
    await waitUntil('the line is full', async () => answers.length === 4)
    return { flow, failures, counted, clock, answers, siege }
  }

  test('four are verified at once, 32 wait, and the others get Retry-After, uncounted [store-22]', async () => {
    const { answers, siege, counted, failures } = await besieged()
    expect(gate.waiting).toBe(4)
    expect(new Set(answers)).toEqual(new Set([busy]))
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(
      new Set(['refresh_token_malformed', 'bcrypt_busy']),
    )
    gate.open()
    await siege
    expect([countOf(answers, busy), countOf(answers, wrong)]).toEqual([4, 36])
    expect(counted).toEqual({ 'client:address': 36, 'client:clientAndAddress': 36, 'client:client': 36 })
  })

  test('requests without bcrypt, or with a remembered secret, do not wait', async () => {
    const { flow, siege, clock } = await besieged()
    expect(await flow.open('/.well-known/oauth-authorization-server')).toHaveProperty('status', 200)
    expect(await right(flow, oldPrint)).toBe(proven)
    expect(await right(flow, photoFrame)).toBe(proven)
    clock.advance(300)
    // It is verified again, before all others that wait.
    const again = right(flow, photoFrame)
    gate.open()
    expect(await again).toBe(proven)
    await siege
  })

  test('passwords wait in the same queue, and one that was not verified is not counted', async () => {
    const { flow, siege, counted, failures } = await besieged()
    expect(refusalOf(await flow.request(oldPrint, passwordRequest))).toBe(busy)
    expect(failures.at(-1)).toMatchObject({ reason: 'bcrypt_busy' })
    expect(counted).toMatchObject({ 'password:username': 0, 'password:address': 0, 'password:client': 0 })
    gate.open()
    await siege
    tokensOf(await flow.request(oldPrint, passwordRequest))
  })
})
