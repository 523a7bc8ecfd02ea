import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { jwtBearer, redisStore } from '../../lib/index'
import { audience, claimsAt, hub, issuers, jwt } from '../support/assertions/jwt'
import { describeOwnRedis } from '../support/describe-own-redis'
import { application } from '../support/flows/application'
import { bent, photoPrint } from '../support/flows/clients'
import type { Flow } from '../support/flows/flow'
import { startRedis, type RedisServer } from '../support/redis-server'
import { startRedisProxy } from '../support/stores/redis-proxy'

const grantType = jwtBearer({ issuers, audience, resourceOwner: () => 'alice' })
const desk = bent(photoPrint, { grant_types: [grantType.name] })
const prefix = `once:${randomUUID()}:`

/**
 * A way to Redis on which so many replies get lost, from that to a write on: it was carried out, and no client learns of
 * it. Each one that is lost breaks its connection; two before a connection is ready again end what was sent in trouble.
 */
async function startLosing(port: number) {
  const losing = { next: 0, hasBegun: false }
  const proxy = await startRedisProxy(port, () => {
    let isWrite = false
    return {
      sent: (words) => {
        isWrite ||= /\r\n(?:set|evalsha|eval)\r\n/i.test(words.toString('latin1'))
      },
      replied: (pass, client) => {
        if (losing.next === 0 || !(isWrite || losing.hasBegun)) return pass()
        losing.next -= 1
        losing.hasBegun = losing.next > 0
        client.destroy()
      },
    }
  })
  return { url: proxy.url, losing, stopProxy: () => proxy.stop() }
}

/** A server with a way of its own to Redis. */
async function start(port: number) {
  const { url, losing, stopProxy } = await startLosing(port)
  const store = redisStore({ url, prefix })
  const { flow } = application({
    store,
    grantTypes: [grantType],
    clients: [desk.registration],
    storeDeadline: 10,
    rateLimit: false,
  })
  return { flow, losing, stop: () => store.close().then(stopProxy) }
}

describeOwnRedis('Assertions, presented in parallel to two servers whose replies from Redis get lost', () => {
  let redis: Redis
  let redisServer: RedisServer
  let servers: readonly Awaited<ReturnType<typeof start>>[]

  beforeAll(async () => {
    redisServer = await startRedis({ own: true })
    redis = new Redis(redisServer.url)
    const port = Number(new URL(redisServer.url).port)
    servers = [await start(port), await start(port)]
  })
  afterAll(async () => {
    for (const { stop } of servers) await stop()
    redis.disconnect()
    await redisServer.stop()
  })

  /** Presents an assertion as a client does that tries again as long as the answer is trouble. */
  async function present(flow: Flow, assertion: string): Promise<string[]> {
    const fields = { grant_type: grantType.name, assertion, scope: 'photos:read' }
    const { status, body } = await flow.request(desk, fields)
    const answer = status === 200 ? 'token' : String(body.error)
    return answer === 'temporarily_unavailable' ? [answer, ...(await present(flow, assertion))] : [answer]
  }

  test('give one token each at most, and are used up only by an authorization that began', async () => {
    const heard = new Set<string>()
    for (let round = 0; round < 12; round++) {
      const assertion = jwt(hub, claimsAt(Math.floor(Date.now() / 1000)))
      // Some are sent again by the connection, some by the server, and some end in trouble.
      for (const { losing } of servers) losing.next = round % 6
      const flows = servers.map(({ flow }) => flow)
      const answers = (await Promise.all([...flows, ...flows].map((flow) => present(flow, assertion)))).flat()
      for (const { losing } of servers) Object.assign(losing, { next: 0, hasBegun: false })
      for (const flow of flows) answers.push(...(await present(flow, assertion)))
      for (const answer of answers) heard.add(answer)
      expect(answers.filter((answer) => answer === 'token').length).toBeLessThanOrEqual(1)
      // The last answer was a refusal, so that there is what used the assertion up.
      expect(answers.at(-1)).toBe('invalid_grant')
      expect(await redis.keys(`${prefix}authorization:*`)).toHaveLength(round + 1)
    }
    expect([...heard].toSorted()).toEqual(['invalid_grant', 'temporarily_unavailable', 'token'])
  })
})
