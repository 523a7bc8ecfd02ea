import { Redis } from 'ioredis'
import type { Response } from 'supertest'
import { redisStore, type AuthorizationStore } from '../../../lib/index'
import { recordEvents } from '../../support/events'
import { application, type Application } from '../../support/flows/application'
import { photoPrint } from '../../support/flows/clients'
import { outcomeOf } from '../../support/flows/outcome'
import { tokensOf } from '../../support/flows/tokens'
import { startRedis, type RedisServer } from '../../support/redis-server'
import { removeOnlyOnce } from '../../support/stores/broken-stores'
import { startRedisProxy, type RedisProxy } from '../../support/stores/redis-proxy'
import { uniquePrefix } from '../../support/stores/redis-under-test'

/** A request that ends an authorization, and what it is answered. */
interface Ending {
  readonly event: 'replayed' | 'reused' | 'revoked'
  readonly answer: string
  readonly prepare: (host: Application) => Promise<(host: Application) => Promise<Response>>
}

const endings: readonly Ending[] = [
  {
    event: 'replayed',
    answer: '400 invalid_grant',
    prepare: async ({ flow }) => {
      const code = await flow.approve(photoPrint)
      tokensOf(await flow.redeem(photoPrint, code))
      return (host) => host.flow.redeem(photoPrint, code)
    },
  },
  {
    event: 'reused',
    answer: '400 invalid_grant',
    prepare: async ({ flow }) => {
      const { refreshToken } = await flow.tokens(photoPrint)
      tokensOf(await flow.refresh(photoPrint, refreshToken))
      return (host) => host.flow.refresh(photoPrint, refreshToken)
    },
  },
  {
    event: 'revoked',
    answer: 'done',
    prepare: async ({ flow }) => {
      const { accessToken } = await flow.tokens(photoPrint)
      return (host) => host.flow.revoke(photoPrint, accessToken)
    },
  },
]

describe('The reply of a removal is lost', () => {
  let redis: RedisServer
  let network: RedisProxy
  const clients: Redis[] = []
  let losing = 0
  beforeAll(async () => {
    redis = await startRedis({ own: true })
    network = await startRedisProxy(redis.port, () => {
      let isRemoval = false
      return {
        // A create names the mark of a removal, too, and has a record, which is a JSON tuple.
        sent: (words) => (isRemoval = words.includes(':removed:') && !words.includes('\r\n[')),
        replied: (pass, client) => {
          if (!isRemoval || losing === 0) return pass()
          losing -= 1
          client.destroy()
        },
      }
    })
  })
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect()
  })
  afterAll(async () => {
    await network.stop()
    await redis.stop()
  })

  /** Two processes whose clients send nothing again by themselves, and all that they tell. */
  function processes(plant = (sound: AuthorizationStore) => sound) {
    const prefix = uniquePrefix()
    const one = () => {
      const client = new Redis(network.url, { maxRetriesPerRequest: 0 })
      client.on('error', () => {})
      clients.push(client)
      const store = plant(redisStore({ client, prefix }))
      const host = application({ store, storeDeadline: 10, lifetimes: { refreshTokenGrace: 0 } })
      return { host, recorded: recordEvents(host.oauth.events) }
    }
    return [one(), one()] as const
  }

  const countOf = (all: ReturnType<typeof processes>, event: string) =>
    all.flatMap(({ recorded }) => recorded).filter((each) => each.event === event).length

  test.each(endings)(
    '$event is emitted all the same, and the response does not change',
    async ({ event, answer, prepare }) => {
      const all = processes()
      const present = await prepare(all[0].host)
      losing = 1
      expect(outcomeOf(await present(all[1].host))).toBe(answer)
      expect([countOf(all, event), losing]).toEqual([1, 0])
    },
  )

  test.each(endings)(
    '$event is emitted by at least one of two racers',
    async ({ event, answer, prepare }) => {
      const all = processes()
      const present = await prepare(all[0].host)
      losing = 1
      const answers = await Promise.all(all.map(({ host }) => present(host)))
      expect(answers.map(outcomeOf)).toEqual([answer, answer])
      expect(countOf(all, event)).toBeGreaterThan(0)
      expect(losing).toBe(0)
    },
  )

  test('revoked is emitted for a removal by the host, which does not reject', async () => {
    const all = processes()
    const { accessToken } = await all[0].host.flow.tokens(photoPrint)
    const [{ authorizationId = '' } = {}] = all[0].recorded
    losing = 1
    await all[1].host.oauth.revoke(authorizationId)
    expect([countOf(all, 'revoked'), losing]).toEqual([1, 0])
    expect((await all[0].host.flow.photos(accessToken)).status).toBe(401)
  })

  test.each(endings)('$event shows a store that removes only once', async ({ event, prepare }) => {
    const all = processes(removeOnlyOnce)
    const present = await prepare(all[0].host)
    losing = 1
    await present(all[1].host)
    await present(all[0].host)
    expect(countOf(all, event)).toBe(0)
  })
})
