import { Cluster, Redis } from 'ioredis'
import type { Response } from 'supertest'
import { redisStore } from '../../../lib/index'
import type { PipelinedCommands, RedisCommands } from '../../../lib/stores/redis/redis-commands'
import { saving } from '../../../lib/stores/redis/writes'
import { application } from '../../support/flows/application'
import { photoPrint } from '../../support/flows/clients'
import { authorizationRequest, type Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { startRedisCluster, type RedisCluster } from '../../support/redis-cluster'
import { uniquePrefix } from '../../support/stores/redis-under-test'

type Client = RedisCommands & PipelinedCommands

/** A request that changes an authorization, which exists when it is prepared. */
const changes: readonly {
  readonly title: string
  readonly good: string
  readonly prepare: (flow: Flow) => Promise<() => Promise<Response>>
}[] = [
  {
    title: 'a decision',
    good: 'redirect code',
    prepare: async (flow) => {
      const page = await flow.ask(authorizationRequest(photoPrint), 'alice')
      return () => flow.decide(page, 'approve', 'alice')
    },
  },
  {
    title: 'a code',
    good: 'tokens',
    prepare: async (flow) => {
      const code = await flow.approve(photoPrint)
      return () => flow.redeem(photoPrint, code)
    },
  },
  {
    title: 'a refresh without a grace',
    good: 'tokens',
    prepare: async (flow) => {
      const { refreshToken } = await flow.tokens(photoPrint)
      return () => flow.refresh(photoPrint, refreshToken)
    },
  },
  {
    title: 'a revocation',
    good: 'done',
    prepare: async (flow) => {
      const { accessToken } = await flow.tokens(photoPrint)
      return () => flow.revoke(photoPrint, accessToken)
    },
  },
]

describe('While the slot of an authorization migrates, and writes wait for replicas', () => {
  let cluster: RedisCluster
  let client: Cluster
  let masters: readonly Redis[]
  beforeAll(async () => {
    cluster = await startRedisCluster({ replicas: 1 })
    client = new Cluster(cluster.nodes)
    masters = cluster.servers.map(({ url }) => new Redis(url))
  })
  afterAll(async () => {
    client.disconnect()
    for (const master of masters) master.disconnect()
    await cluster.stop()
  })

  /**
   * Moves the slot of the one authorization below the prefix, and does something in between.
   *
   * @param moved whether the record of the authorization goes first, or last.
   */
  async function migrating<T>(prefix: string, act: () => Promise<T>, moved = true): Promise<T> {
    const keys = await Promise.all(masters.map((master) => master.keys(`${prefix}authorization:*`)))
    const from = keys.findIndex((some) => some.length > 0)
    const to = (from + 1) % masters.length
    const [key = ''] = keys[from] ?? []
    const [source, target] = [masters[from], masters[to]]
    if (source === undefined || target === undefined) throw new Error('There is no such key.')
    const slot = await client.cluster('KEYSLOT', key)
    const sourceId = String(await source.call('CLUSTER', 'MYID'))
    const targetId = String(await target.call('CLUSTER', 'MYID'))
    await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId)
    await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId)
    const move = () => source.call('MIGRATE', '127.0.0.1', cluster.servers[to]?.port ?? 0, key, 0, 5000)
    if (moved) await move()
    try {
      return await act()
    } finally {
      await move()
      for (const master of [target, source]) await master.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId)
    }
  }

  /** What a change is answered while the slot migrates, and again when it has moved. */
  async function outcomes(over: Client, prepare: (typeof changes)[number]['prepare']) {
    const prefix = uniquePrefix()
    const store = redisStore({ client: over, prefix, waitForReplicas: { replicas: 1, within: 5 } })
    const { flow } = application({ store, storeDeadline: 20, lifetimes: { refreshTokenGrace: 0 } })
    const change = await prepare(flow)
    return [outcomeOf(await migrating(prefix, change)), outcomeOf(await change())]
  }

  test.each(changes)('$title that fails is not done: it succeeds later', async ({ good, prepare }) => {
    expect(await outcomes(client, prepare)).toEqual([expect.stringMatching(/temporarily_unavailable$/), good])
  })

  test.each([
    ['whose record has moved', true],
    ['whose record has not moved', false],
  ])('a revocation that waits for no replica is done, %s', async (_which, moved) => {
    const prefix = uniquePrefix()
    const { flow } = application({
      store: redisStore({ client, prefix }),
      storeDeadline: 20,
    })
    const { accessToken } = await flow.tokens(photoPrint)
    const revoke = () => flow.revoke(photoPrint, accessToken)
    expect(outcomeOf(await migrating(prefix, revoke, moved))).toBe('done')
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  /** Follows to the new place with the write alone, and reports that it was sent away. */
  const writingAndFailing: Client = {
    call: (...words) => client.call(...words),
    pipeline: (commands) => ({
      exec: async () => {
        const replies = await client.pipeline(commands).exec()
        const [write = []] = commands
        if (replies?.[0]?.[0]?.message.startsWith('ASK ') === true)
          await client.call(write[0] ?? '', ...write.slice(1))
        return replies
      },
    }),
  }

  test('a code shows a client that writes there and fails', async () => {
    const [, script = ''] = saving.whole('', [])
    for (const master of masters) await master.script('LOAD', script)
    const [, code] = changes
    const seen = code && (await outcomes(writingAndFailing, code.prepare))
    expect(seen).toEqual(['400 temporarily_unavailable', '400 invalid_grant'])
  })
})
