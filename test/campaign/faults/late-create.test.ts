import { setTimeout } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { redisStore, type RedisStore } from '../../../lib/index'
import type { PipelinedCommands, RedisCommands } from '../../../lib/stores/redis/redis-commands'
import { extent } from '../../support/extent'
import { isSave, startFaultyNetwork, type FaultyNetwork } from '../../support/faulty-network'
import { application } from '../../support/flows/application'
import { nightlyReport, photoPrint } from '../../support/flows/clients'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { codeOf } from '../../support/flows/redirection'
import { tokensOf } from '../../support/flows/tokens'
import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'
import { startReplicatedRedis, type ReplicatedRedis } from '../../support/redis-replicated'
import { brokenConnections } from '../../support/stores/broken-connections'
import { uniquePrefix } from '../../support/stores/redis-under-test'

/** An authorization, from its create to its end, and what its credential gets afterwards. */
interface Story {
  readonly title: string
  readonly refusal: string
  readonly live: (flow: Flow) => Promise<() => Promise<string>>
}

const itself = { grant_type: 'client_credentials', scope: 'photos:read' }

const stories: readonly Story[] = [
  {
    title: 'a revoked token',
    refusal: '401',
    live: async (flow) => {
      const { accessToken } = tokensOf(await flow.request(nightlyReport, itself))
      expect((await flow.photos(accessToken)).status).toBe(200)
      expect((await flow.revoke(nightlyReport, accessToken)).status).toBe(200)
      return async () => String((await flow.photos(accessToken)).status)
    },
  },
  {
    title: 'a replayed code',
    refusal: '400 invalid_grant',
    live: async (flow) => {
      const code = codeOf(await flow.ask(authorizationRequest(photoPrint), 'bob'))
      tokensOf(await flow.redeem(photoPrint, code))
      expect((await flow.redeem(photoPrint, code)).status).toBe(400)
      return async () => outcomeOf(await flow.redeem(photoPrint, code))
    },
  },
]

/** What delivers the late copy. */
interface Network {
  /** The next create reaches Redis twice: its first copy late. */
  readonly lateNext: () => void
  /** Resolves to how many copies there were. */
  readonly deliver: () => Promise<number>
}

const open = (store: RedisStore) => application({ store, storeDeadline: 10, skipConsent: () => true }).flow

/** Milliseconds. The deadline of a create lets a copy pass for two seconds, so a copy that took longer shows nothing. */
const inTime = 1800

/** @param delay milliseconds between the create and its late copy, at least. */
async function lateCopy(flow: Flow, network: Network, { live }: Story, delay: number): Promise<string> {
  // The process must know the time of Redis before: the first copy of its very first create is void anyway.
  tokensOf(await flow.request(nightlyReport, itself))
  for (;;) {
    const start = performance.now()
    network.lateNext()
    const present = await live(flow)
    await setTimeout(delay - (performance.now() - start))
    expect(await network.deliver()).toBe(1)
    const took = performance.now() - start
    const outcome = await present()
    if (took < inTime) return outcome
  }
}

const delays = extent(
  [0],
  Array.from({ length: 20 }, (_, round) => 300 + 60 * round),
)

describe('A copy of a create that comes after the end of its authorization', () => {
  let redis: ReplicatedRedis
  let network: FaultyNetwork
  let cluster: RedisCluster
  let client: Cluster
  const stores: RedisStore[] = []
  beforeAll(async () => {
    redis = await startReplicatedRedis()
    cluster = await startRedisCluster({ replicas: 1 })
    client = new Cluster(cluster.nodes)
  })
  beforeEach(async () => {
    network = await startFaultyNetwork(redis.master.port)
  })
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
    await network.stop()
  })
  afterAll(async () => {
    client.disconnect()
    await redis.stop()
    await cluster.stop()
  })

  const waitForReplicas = { replicas: 1, within: 5 }
  const ways = [
    ['one Redis', {}],
    ['one Redis, waitForReplicas', { waitForReplicas }],
  ] as const
  const clusterWays = [
    ['a cluster', {}],
    ['a cluster, waitForReplicas', { waitForReplicas }],
    ['a cluster, one hash tag for all keys', { prefix: '{late}:' }],
  ] as const

  const cases = (all: readonly (readonly [where: string, options: object])[]) =>
    all.flatMap(([where, options]) => stories.map((story) => ({ where, options, story, title: story.title })))

  test.each(cases(ways))('brings nothing back: $title, $where', async ({ options, story }) => {
    const store = redisStore({ url: network.url, prefix: uniquePrefix(), ...options })
    stores.push(store)
    const flow = open(store)
    const over = { lateNext: () => network.holdNextSave(), deliver: () => network.deliverCopies() }
    for (const delay of delays) expect(await lateCopy(flow, over, story, delay)).toBe(story.refusal)
  })

  test.each(stories)('shows creates that look for no mark: $title', async (story) => {
    const { recording, ...over } = recordingClient(client)
    const careless = brokenConnections['creates that are never refused'](recording)
    const flow = open(redisStore({ client: careless, prefix: uniquePrefix() }))
    expect(await lateCopy(flow, over, story, 0)).toMatch(/^(?:200|tokens)$/)
  })

  test.each(cases(clusterWays))('brings nothing back: $title, $where', async ({ options, story }) => {
    const { recording, ...over } = recordingClient(client)
    const flow = open(redisStore({ client: recording, prefix: uniquePrefix(), ...options }))
    for (const delay of delays) expect(await lateCopy(flow, over, story, delay)).toBe(story.refusal)
  })
})

/** A client of a cluster that keeps a copy of the next save, as a network does that delivers it twice. */
function recordingClient(client: Cluster): Network & { recording: RedisCommands & PipelinedCommands } {
  let isNextLate = false
  let copies: (readonly string[])[] = []
  const see = (words: readonly string[]): void => {
    if (!isNextLate || !isSave(words)) return
    isNextLate = false
    copies.push(words)
  }
  return {
    recording: {
      call: (command, ...words) => {
        see([command, ...words])
        return client.call(command, ...words)
      },
      pipeline: (commands) => {
        for (const words of commands) see(words)
        return client.pipeline(commands)
      },
    },
    lateNext: () => (isNextLate = true),
    deliver: async () => {
      const late = copies
      copies = []
      // One that is refused has no effect.
      await Promise.allSettled(late.map(([name = '', ...words]) => client.call(name, ...words)))
      return late.length
    },
  }
}
