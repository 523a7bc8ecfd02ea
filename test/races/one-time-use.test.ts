import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { jwtBearer, redisStore } from '../../lib/index'
import { audience, claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { describeOwnRedis } from '../support/describe-own-redis'
import { startFaultyNetwork, type FaultyNetwork } from '../support/faulty-network'
import { application } from '../support/flows/application'
import { bent, photoPrint } from '../support/flows/clients'
import type { Flow } from '../support/flows/flow'
import { startRedis, type RedisServer } from '../support/redis-server'

const grantType = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const desk = bent(photoPrint, { grant_types: [grantType.name] })
const prefix = `once:${randomUUID()}:`

/** A server with a way of its own to Redis. */
function start(url: string) {
  const store = redisStore({ url, prefix })
  const { flow } = application({
    store,
    grantTypes: [grantType],
    clients: [desk.registration],
    storeDeadline: 10,
    rateLimit: false,
  })
  return { flow, store }
}

describeOwnRedis('Assertions, presented in parallel to two servers whose replies from Redis get lost', () => {
  const stops: (() => unknown)[] = []
  let server: RedisServer
  let networks: readonly FaultyNetwork[]
  let flows: readonly Flow[]
  let redis: Redis

  beforeAll(async () => {
    server = await startRedis({ own: true })
    redis = new Redis(server.url)
    const { port } = new URL(server.url)
    networks = [await startFaultyNetwork(Number(port)), await startFaultyNetwork(Number(port))]
    const servers = networks.map(({ url }) => start(url))
    flows = servers.map(({ flow }) => flow)
    stops.push(
      ...servers.map(({ store }) => store.close),
      ...networks.map(({ stop }) => stop),
      () => redis.disconnect(),
      () => server.stop(),
    )
  })
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  /** Presents an assertion as a client does that tries again as long as the answer is trouble. */
  async function present(flow: Flow, assertion: string): Promise<string> {
    const fields = { grant_type: grantType.name, assertion, scope: 'photos:read' }
    for (let attempts = 0; attempts < 20; attempts++) {
      const { status, body } = await flow.request(desk, fields)
      if (status === 200) return 'token'
      if (body.error !== 'temporarily_unavailable') return `${status} ${body.error}`
    }
    return 'trouble'
  }

  test('give one token each at most, and are used up only by an authorization that began', async () => {
    const rounds = 30
    let tokens = 0
    for (let round = 0; round < rounds; round++) {
      const assertion = jwt(hub, claimsAt(Math.floor(Date.now() / 1000)))
      // More replies than are sent again: so that some attempts end in trouble.
      for (const network of networks) network.loseReplies(round % 7)
      const answers = await Promise.all([...flows, ...flows].map((flow) => present(flow, assertion)))
      for (const network of networks) network.loseReplies(0)
      answers.push(...(await Promise.all(flows.map((flow) => present(flow, assertion)))))
      const won = answers.filter((answer) => answer === 'token').length
      tokens += won
      expect({ round, answers, won: won <= 1 }).toMatchObject({ won: true })
      expect(answers.filter((answer) => answer !== 'token' && answer !== 'trouble')).not.toHaveLength(0)
      expect(await redis.keys(`${prefix}authorization:*`)).toHaveLength(round + 1)
    }
    expect(networks.map(({ lostReplies }) => lostReplies() > 0)).toEqual([true, true])
    expect(tokens).toBeGreaterThan(0)
  })
})
