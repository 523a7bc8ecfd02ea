import bcrypt from 'bcrypt'
import { bcryptPasswords, memoryCounters, type Counters } from '../../lib/index'
import { application } from '../support/flows/application'
import { photoFrame } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { Gate } from '../support/flows/gate'
import { countOf, from, guess, proven, right, trusting, wrong } from '../support/flows/guesses'
import { oldPrint, passwordRequest, withPassword } from '../support/flows/password'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { waitUntil } from '../support/wait-until'

const busy = '400 temporarily_unavailable'
const addresses = Array.from({ length: 200 }, (_, at) => `192.0.2.${at}`)

// The comparisons are real, and wait until the test lets them.
const real = bcrypt.compare.bind(bcrypt)
let gate: Gate
const compare = jest.spyOn(bcrypt, 'compare')
beforeEach(() => {
  compare.mockReset()
  compare.mockImplementation(async (secret, digest) => real(secret, digest))
  gate = new Gate()
})
// A test that fails must leave nobody waiting.
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

/** A server of which 200 strangers, each from an address of its own, ask more than it can verify. */
async function besieged() {
  const { counters, counted } = watchedCounters()
  const clock = new Clock()
  const passwordHash = bcrypt.hashSync('wonderland', 4)
  const verify = bcryptPasswords((username) => ({ subject: username, passwordHash }))
  const { grantTypes, clients } = withPassword({ verify })
  const options = { counters, clock: clock.read, grantTypes, clients: [...clients, photoFrame.registration] }
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
  await waitUntil('the line is full', async () => answers.length === 164)
  return { flow, failures, counted, clock, answers, siege }
}

describe('More secrets than bcrypt can verify', () => {
  test('four are verified at once, 32 wait, and the others are told to come again, uncounted [store-22]', async () => {
    const { answers, siege, counted, failures } = await besieged()
    expect(gate.waiting).toBe(4)
    expect(new Set(answers)).toEqual(new Set([busy]))
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(
      new Set(['refresh_token_malformed', 'bcrypt_busy']),
    )
    gate.open()
    await siege
    expect([countOf(answers, busy), countOf(answers, wrong)]).toEqual([164, 36])
    expect(counted).toEqual({ 'client:address': 36, 'client:clientAndAddress': 36, 'client:client': 36 })
  })

  test('nobody waits who does not need bcrypt, nor whose secret is remembered', async () => {
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

  test('passwords stand in the same line, and one that was not looked at is not counted', async () => {
    const { flow, siege, counted, failures } = await besieged()
    expect(refusalOf(await flow.request(oldPrint, passwordRequest))).toBe(busy)
    expect(failures.at(-1)).toMatchObject({ reason: 'bcrypt_busy' })
    expect(counted).toMatchObject({ 'password:username': 0, 'password:address': 0, 'password:client': 0 })
    gate.open()
    await siege
    tokensOf(await flow.request(oldPrint, passwordRequest))
  })
})
