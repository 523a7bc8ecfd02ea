import { Cluster, Redis } from 'ioredis'
import { redisStore, type RedisCommands, type RedisStore } from '../../lib/paths/redis'
import { registeredClients } from '../../lib/paths/registration'
import { but } from '../support/stores/but'
import { startReplyLosingProxy } from '../support/stores/reply-losing-proxy'
import {
  approvedRecord,
  authorizationsOf,
  countersOf,
  endOf,
  findById,
  findRecord,
  inSeconds,
  random22,
  removeById,
  saveRecord,
  threeVersions,
} from '../support/stores/records'
import { uniquePrefix } from '../support/stores/redis-under-test'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

let redis: Redis
let port: number
withRedis(({ client, server }) => {
  redis = client
  port = server.port
})

const photos = { client_id: 'photos', client_type: 'public', scope: 'a' } as const
const [first, second, third] = threeVersions()

describe('A reply that is lost with its connection', () => {
  type Act = (store: RedisStore, lose: () => void) => Promise<unknown>
  const losing =
    (act: (store: RedisStore) => Promise<unknown>): Act =>
    (store, lose) => {
      lose()
      return act(store)
    }
  it.each<[string, (store: RedisStore) => Promise<unknown>, Act, (store: RedisStore) => Promise<unknown>]>([
    [
      'of a create',
      async () => true,
      losing((s) => saveRecord(s, first)),
      async (s) => (await findRecord(s, first)) !== undefined,
    ],
    [
      'of a save',
      (s) => saveRecord(s, first),
      losing((s) => saveRecord(s, second, first)),
      async (s) => (await findRecord(s, first))?.revision === second.revision,
    ],
    [
      'of a client that is added',
      async () => true,
      (store, lose) => {
        const write: RedisStore['write'] = (...words) => {
          lose()
          return store.write(...words)
        }
        return registeredClients(but(store, { write })).add(photos)
      },
      async (s) => (await registeredClients(s).find('photos')) !== undefined,
    ],
    [
      'of a client that is changed',
      (s) => registeredClients(s).add(photos),
      async (s, lose) => {
        const changed = await registeredClients(s).update('photos', (found) => {
          lose()
          return { ...found, scope: `${found.scope}b` }
        })
        return changed?.scope === 'ab'
      },
      async (s) => (await registeredClients(s).find('photos'))?.scope === 'ab',
    ],
  ])('%s does not hide that it was done, once', async (_which, prepare, act, seen) => {
    const proxy = await startReplyLosingProxy(port)
    const store = redisStore({ url: proxy.url, prefix: uniquePrefix() })
    try {
      expect(await prepare(store)).toBe(true)
      await findById(store, random22())
      let isFirst = true
      const lose = () => {
        if (isFirst) proxy.loseNextReply()
        isFirst = false
      }
      expect([await act(store, lose), proxy.lostReplies(), await seen(store)]).toEqual([true, 1, true])
    } finally {
      await store.close()
      await proxy.stop()
    }
  })

  it('of a count is a failure, and the attempt is counted once at most', async () => {
    const proxy = await startReplyLosingProxy(port)
    const store = redisStore({ url: proxy.url, prefix: uniquePrefix() })
    try {
      await store.add('known', 1, 60)
      proxy.loseNextReply()
      expect(await endOf(store.add('lost', 1, 60))).toMatch('Error')
      // What was sent again would arrive before this.
      expect(await store.add('lost', 1, 60)).toMatchObject({ count: 2 })
    } finally {
      await store.close()
      await proxy.stop()
    }
  })

  it('of a single use does not make its winner lose', async () => {
    const twice = {
      call: (...words: Parameters<RedisCommands['call']>) =>
        redis.call(...words).then(() => redis.call(...words)),
    }
    const prefix = uniquePrefix()
    const uses = [twice, redis].map((client) => countersOf(redisStore({ client, prefix })))
    const useOnce = async (at: number) => uses[at]?.useOnce('once', 60)
    expect([await useOnce(0), await useOnce(1)]).toEqual([true, false])
  })

  it('of a write makes the change of a client ask once more whether it was written', async () => {
    let isFailing = false
    const call = async (command: string, ...words: string[]) => {
      const answer: unknown = await redis.call(command, ...words)
      if (words[4] !== 'replace' || !isFailing) return answer
      isFailing = false
      throw new Error('Command timed out')
    }
    const clients = registeredClients(redisStore({ client: { call }, prefix: uniquePrefix() }))
    await clients.add(photos)
    isFailing = true
    const change = clients.update('photos', (found) => ({ ...found, scope: `${found.scope}b` }))
    expect(await change).toMatchObject({ scope: 'ab' })
    expect([isFailing, await clients.list()]).toEqual([false, [{ ...photos, scope: 'ab' }]])
  })
})

describe('A command that creates something', () => {
  /** 0 says that the time of Redis is not known yet. */
  const deadlineOf = (words: readonly string[]) => (words[4] === 'create' ? Number(words[5]) : 0)

  const withDeadline = (words: readonly string[], change: (deadline: number) => number) =>
    deadlineOf(words) > 0 ? words.with(5, String(change(deadlineOf(words)))) : [...words]

  /** The client of a Redis whose clock is ahead of its real one. */
  function redisAhead(milliseconds: () => number): RedisCommands {
    return {
      call: async (command, ...words) => {
        const sent = withDeadline(words, (deadline) => deadline - milliseconds())
        const reply: unknown = await redis.call(command, ...sent)
        if (words[4] !== 'create' || typeof reply !== 'number' || reply === 0) return reply
        return reply + Math.sign(reply) * milliseconds()
      },
    }
  }

  it.each([3_600_000, -3_600_000, 20_000, -20_000])(
    'is done although the clock of Redis was set by %i ms since the last one',
    async (step) => {
      let ahead = 0
      const store = redisStore({ client: redisAhead(() => ahead), prefix: uniquePrefix() })
      const create = () => saveRecord(store, threeVersions()[0])
      expect([await create(), await create()]).toEqual([true, true])
      ahead = step
      expect([await create(), await create()]).toEqual([true, true])
    },
  )

  it('is void if its deadline is later than the mark of a removal would live', async () => {
    // The store knows a wrong time of Redis, at both attempts.
    const call = (command: string, ...words: string[]) =>
      redis.call(command, ...withDeadline(words, (deadline) => deadline + 3_600_000))
    const store = redisStore({ client: { call }, prefix: uniquePrefix() })
    const { authorization } = third
    expect(await endOf(authorizationsOf(store).save(authorization, random22()))).toMatch('too late')
    expect(await findById(store, authorization.id)).toBeUndefined()
  })

  it('and arrives once more, after a removal, brings nothing back: first because of the mark, then because of its deadline', async () => {
    const creates: [string, ...string[]][] = []
    const call = (command: string, ...words: string[]) => {
      if (deadlineOf(words) > 0) creates.push([command, ...words])
      return redis.call(command, ...words)
    }
    const prefix = uniquePrefix()
    const store = redisStore({ client: { call }, prefix })
    const record = approvedRecord(inSeconds(600))
    await authorizationsOf(store).save(record, random22())
    await removeById(store, record.id)
    const arriveAgain = async () => {
      for (const [command, ...words] of creates) await redis.call(command, ...words).catch(() => {})
      return findById(store, record.id)
    }
    expect(creates.length).toBeGreaterThanOrEqual(1)
    expect(await arriveAgain()).toBeUndefined()
    const latest = Math.max(...creates.map(([, ...words]) => deadlineOf(words)))
    await waitUntil('the deadlines are over', async () => {
      const [seconds, micros] = await redis.time()
      // A script counts whole milliseconds.
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) > latest
    })
    expect(await redis.del(`${prefix}authorization:${record.id}`)).toBe(1)
    expect(await arriveAgain()).toBeUndefined()
  })
})

describe('A client of the host', () => {
  const client = (answer: unknown): RedisCommands => ({ call: async () => answer })
  const wholeNumber = 'something other than a whole number'
  it.each<[string, unknown, (store: RedisStore) => Promise<unknown>, string]>([
    ['a find', Buffer.from('text'), (s) => findById(s, 'an id'), 'something other than text'],
    ['a create', 'QUEUED', (s) => saveRecord(s, first), wholeNumber],
    ['a save', 'QUEUED', (s) => saveRecord(s, second, first), wholeNumber],
    ['a count', 'OK', (s) => s.add('a', 1, 60), 'something other than two numbers'],
    ['a count in a list', ['x', 1], (s) => s.add('a', 1, 60), 'other than two numbers'],
    ['a single use', {}, (s) => countersOf(s).useOnce('a', 60), wholeNumber],
    ['a list', 7, (s) => s.list('client'), 'something other than a list'],
    ['a list of numbers', [7], (s) => s.list('client'), 'something other than text'],
    ['a look-up of a client', 7, (s) => registeredClients(s).find('photos'), 'something other than text'],
    ['a list of clients', 7, (s) => registeredClients(s).list(), 'something other than a list'],
  ])(
    'that answers %s with something strange fails, and does not look like an empty store',
    async (_what, answer, act, problem) => {
      expect(await endOf(act(redisStore({ client: client(answer) })))).toMatch(problem)
    },
  )

  it('that answers numbers as text saves once, and a wrong revision is still refused', async () => {
    const asText = new Redis(port, { stringNumbers: true })
    const store = redisStore({ client: asText, prefix: uniquePrefix() })
    const saves = [
      await saveRecord(store, first),
      await saveRecord(store, second),
      await saveRecord(store, second, first),
      await saveRecord(store, third, first),
    ]
    asText.disconnect()
    expect(saves).toEqual([true, false, true, false])
  })

  it('under which a registered client moves all the time makes its change fail', async () => {
    const answers: Record<string, unknown> = {
      GET: `${random22()}{"registration":{"client_id":"photos"}}`,
      EVALSHA: 0,
    }
    const clients = registeredClients(redisStore({ client: { call: async (command) => answers[command] } }))
    await expect(clients.update('photos', () => photos)).rejects.toMatchObject({
      code: 'temporarily_unavailable',
    })
  })
})

const secret = 'hunter2'
const lazy = { lazyConnect: true }

describe('The place of a store, as messages say it,', () => {
  it.each<[string, RedisCommands]>([
    ['Redis at redis.example:6380', new Redis(`rediss://admin:${secret}@redis.example:6380/3`, lazy)],
    ['Redis at localhost:6379', new Redis({ ...lazy, password: secret })],
    ['Redis at /run/redis.sock', new Redis({ ...lazy, path: '/run/redis.sock', password: secret })],
    [
      'Redis tokens behind the sentinels a:26379, b:6379',
      new Redis({
        ...lazy,
        name: 'tokens',
        sentinels: [{ host: 'a', port: 26_379 }, { host: 'b' }],
        sentinelPassword: secret,
      }),
    ],
    [
      'Redis Cluster at a:7000, b:7001, localhost:7002',
      new Cluster([{ host: 'a', port: 7000 }, `redis://:${secret}@b:7001`, 7002], lazy),
    ],
    ['Redis', { call: async () => null }],
  ])('is %s', (place, client) => {
    expect(redisStore({ client }).place).toBe(place)
  })
})

describe('Reads of one turn', () => {
  const wanted = Array.from({ length: 20 }, () => threeVersions()[0])

  it.each<[string, () => Promise<RedisStore>]>([
    [
      'over a connection of the store',
      async () => redisStore({ url: `redis://127.0.0.1:${port}`, prefix: uniquePrefix() }),
    ],
    ['over a client of the host', async () => redisStore({ client: redis, prefix: uniquePrefix() })],
    [
      'of a user of Redis who may not read several at once',
      async () => {
        await redis.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-mget')
        return redisStore({ url: `redis://limited:secret@127.0.0.1:${port}`, prefix: uniquePrefix() })
      },
    ],
  ])('each find their own: %s', async (_way, open) => {
    const store = await open()
    const stored = wanted.slice(5)
    await Promise.all(stored.map((record) => saveRecord(store, record)))
    const asked = [...wanted, ...stored.slice(0, 1)]
    for (let round = 0; round < 2; round++)
      expect(await Promise.all(asked.map((record) => findRecord(store, record)))).toEqual(
        asked.map((record) => (stored.includes(record) ? record : undefined)),
      )
    await store.close()
  })

  it('fail each where the store is closed', async () => {
    const store = redisStore({ url: `redis://127.0.0.1:${port}` })
    await findById(store, random22())
    await store.close()
    const ends = await Promise.all(wanted.map((record) => endOf(findRecord(store, record))))
    expect(new Set(ends)).toEqual(new Set(['Error: Connection is closed.']))
  })
})
