import { randomUUID } from 'node:crypto'
import type { Response } from 'supertest'
import type { DpopOptions } from '../../../lib/index'
import { photoBook } from '../../support/flows/clients'
import { type Flow, redemption } from '../../support/flows/flow'
import { hashOf, Prover } from '../../support/flows/prover'
import { startServer, type ServerProcess } from '../../support/flows/start-server'
import { startRedis, type RedisServer } from '../../support/redis-server'

let redis: RedisServer
let servers: ServerProcess[] = []

beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())
afterEach(async () => {
  await Promise.all(servers.map((server) => server.kill()))
  servers = []
})

/** Two processes on one Redis; the clock of the second may be ahead. */
async function two(options: DpopOptions, ahead = 0): Promise<readonly [Flow, Flow]> {
  const plan = { redis: { url: redis.url }, prefix: `dpop:${randomUUID()}:`, dpop: options }
  const [one, other] = await Promise.all([startServer(plan), startServer({ ...plan, ahead })])
  servers = [one, other]
  return [one.flow, other.flow]
}

/** Sends one request twenty times at once, to one process and the other in turn. */
const twentyTimes = ([one, other]: readonly [Flow, Flow], ask: (flow: Flow) => Promise<Response>) =>
  Promise.all(Array.from({ length: 20 }, (_, index) => ask(index % 2 === 0 ? one : other)))

const { client_id } = photoBook.registration

test('Of parallel requests with one proof to two processes on one Redis, one passes', async () => {
  const flows = await two({})
  const client = new Prover(Date.now)
  const redeem = { client_id, ...redemption(photoBook, await flows[0].approve(photoBook)) }
  const DPoP = client.proof('POST', '/token')
  const answers = await twentyTimes(flows, (flow) => flow.submit('/token', redeem, undefined, { DPoP }))
  const tokens = answers.filter(({ status }) => status === 200)
  expect(tokens).toHaveLength(1)
  expect(new Set(answers.map(({ body }) => body.error))).toEqual(new Set([undefined, 'invalid_dpop_proof']))

  const token = String(tokens[0]?.body.access_token)
  const proof = client.proof('GET', '/photos', { ath: hashOf(token) })
  const headers = { Authorization: `DPoP ${token}`, DPoP: proof }
  const calls = await twentyTimes(flows, (flow) => flow.open('/photos', undefined, headers))
  expect(calls.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200, 401]))
})

test('Two processes whose clocks differ by 300 seconds take the nonces of each other, and a proof once', async () => {
  const nonces = { secret: 's'.repeat(32), seconds: 600 }
  const flows = await two({ nonces, guardNonces: nonces, tolerance: 300 }, 300)
  const client = new Prover(Date.now)
  for (const [one, other] of [flows, [flows[1], flows[0]]] as const) {
    client.nonce = undefined
    // A code of a process with another clock may have expired.
    const redeem = { client_id, ...redemption(photoBook, await other.approve(photoBook)) }
    const ask = (flow: Flow, DPoP: string) => flow.submit('/token', redeem, undefined, { DPoP })
    const asked = await ask(one, client.proof('POST', '/token'))
    expect(asked.body.error).toBe('use_dpop_nonce')
    client.nonce = asked.get('DPoP-Nonce')
    const proof = client.proof('POST', '/token')
    expect((await ask(other, proof)).body.token_type).toBe('DPoP')
    expect((await ask(one, proof)).body.error).toBe('invalid_dpop_proof')
  }
})
