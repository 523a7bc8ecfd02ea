import type { Redis } from 'ioredis'
import { redisStore } from '../../lib/index'
import { codeChallenge, codeVerifier } from '../support/flows/proof-key'
import { codeOf } from '../support/flows/redirection'
import {
  notesApp,
  registeringOn,
  type RegisteringStage,
  type SetRegisteringStage,
} from '../support/flows/registering'
import { startServer } from '../support/rooms/start-server'
import { letPass, uniquePrefix } from '../support/stores/redis-under-test'
import { withRedis } from '../support/with-redis'

// A hundredth of them is the limit of one network, so 100 is the least.
const most = 100
const redirect_uri = 'https://notes.example/callback'

/** The addresses of one subscriber with a /48, each in a /64 of its own, and in all /56 by turns. */
const ofSubscriber = (at: number) => `2001:db8:1:${(((at & 255) << 8) | (at >> 8)).toString(16)}::1`
const ofStranger = (at: number) => `198.51.100.${at}`

/** Registers so many apps from these addresses, as fast as one machine does. Resolves to how often each status came. */
async function flood({ app }: RegisteringStage, addressAt: (at: number) => string, count: number) {
  app.set('trust proxy', 'loopback')
  const { port, stop } = await startServer(app)
  const statuses = new Map<number, number>()
  let next = 0
  const sender = async () => {
    while (next < count) {
      const at = next++
      const { status } = await fetch(`http://127.0.0.1:${port}/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': addressAt(at) },
        body: JSON.stringify({ ...notesApp, client_name: `App ${at}` }),
      })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  try {
    await Promise.all(Array.from({ length: 16 }, sender))
    return Object.fromEntries(statuses)
  } finally {
    await stop()
  }
}

/** Registers an app from an address. Resolves to its `client_id`, or to the status of a refusal. */
async function registered(
  { app, register }: RegisteringStage,
  name: string,
  address: string,
): Promise<string> {
  app.set('trust proxy', 'loopback')
  const { status, body } = await register({ ...notesApp, client_name: name }, { 'X-Forwarded-For': address })
  return status === 201 ? body.client_id : String(status)
}

const asked = (client_id: string) => ({
  response_type: 'code',
  client_id,
  redirect_uri,
  scope: 'photos:read',
  code_challenge: codeChallenge,
  code_challenge_method: 'S256',
})

type Pass = (staged: RegisteringStage, seconds: number) => Promise<void>

function onRedis(): { readonly stage: SetRegisteringStage; readonly pass: Pass } {
  let client: Redis
  let prefix = ''
  withRedis((started) => {
    client = started.client
  })
  const stage = registeringOn((clock) => {
    prefix = uniquePrefix()
    const store = redisStore({ client, prefix, clock })
    return { store, clients: store.dynamicClients }
  })
  const pass: Pass = async ({ clock }, seconds) => {
    clock.advance(seconds)
    await letPass(client, `${prefix}{dynamic-clients}`, seconds)
  }
  return { stage, pass }
}

describe('A flood of registrations', () => {
  const { stage, pass } = onRedis()

  test(`${most} registrations from one /48 leave the next network a place [registration-1]`, async () => {
    const attempts = most / 100
    const staged = stage({ maximumClients: most }, { limits: { networks: { registration: { attempts } } } })
    const statuses = await flood(staged, ofSubscriber, most)
    expect(statuses).toEqual({ 201: attempts * 16, 429: most - attempts * 16 })
    expect(await registered(staged, 'Next', ofStranger(1))).toMatch(/^dynamic_/)
  })

  test(`${most} clients of one /48 give way to the next ones, and those in use stay [registration-2]`, async () => {
    const staged = stage({ maximumClients: most }, { limits: { networks: false } })
    const { flow, clients } = staged
    const register = (name: string, address: string) => registered(staged, name, address)
    // Clients of people behind the same /48 as the flood, and one of another network.
    const [used, pending, atLogin] = [
      await register('Used', ofSubscriber(1)),
      await register('Open', ofSubscriber(1)),
      await register('At the login', ofSubscriber(1)),
    ]
    const unused = await register('Unused', ofStranger(1))
    const page = await flow.ask(asked(used), 'alice')
    const code = codeOf(await flow.decide(page, 'approve', 'alice'))
    const form = {
      grant_type: 'authorization_code',
      client_id: used,
      code,
      redirect_uri,
      code_verifier: codeVerifier,
    }
    expect((await flow.submit('/token', form)).status).toBe(200)
    expect(await flood(staged, ofSubscriber, most - 4)).toEqual({ 201: most - 4 })

    await pass(staged, 590)
    expect((await flow.ask(asked(atLogin))).status).toBe(303)
    const waiting = await flow.ask(asked(pending), 'alice')
    expect(waiting.status).toBe(200)
    await pass(staged, 10)

    for (let at = 0; at < 10; at++)
      expect(await register(`Stranger ${at}`, ofStranger(at))).toMatch(/^dynamic_/)
    for (const clientId of [used, pending, atLogin, unused])
      expect(await clients.find(clientId)).toBeDefined()
    expect((await flow.ask(asked(atLogin), 'bob')).status).toBe(200)
    codeOf(await flow.decide(waiting, 'approve', 'alice'))
  })

  test('a full store of young clients refuses', async () => {
    const staged = stage({ maximumClients: 2 })
    for (const name of ['One', 'Two']) await registered(staged, name, ofSubscriber(1))
    expect(await registered(staged, 'Three', ofStranger(1))).toBe('503')
    await pass(staged, 599)
    expect(await registered(staged, 'Three', ofStranger(1))).toBe('503')
    await pass(staged, 1)
    expect(await registered(staged, 'Three', ofStranger(1))).toMatch(/^dynamic_/)
  })

  test('a client holds its place by one login alone, because strangers send such requests', async () => {
    const staged = stage({ maximumClients: 1 })
    const client = await registered(staged, 'One', ofSubscriber(1))
    for (let minute = 0; minute < 10; minute++) {
      await staged.flow.ask(asked(client))
      await pass(staged, 61)
    }
    expect(await registered(staged, 'Two', ofStranger(1))).toMatch(/^dynamic_/)
  })
})
