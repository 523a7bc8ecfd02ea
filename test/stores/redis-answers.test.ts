import { Cluster, Redis } from 'ioredis'
import { redisStore, type RedisCommands, type RedisStore } from '../../lib/index'
import { startReplyLosingProxy } from '../support/stores/reply-losing-proxy'
import {
  approvedRecord,
  authorizationsOf,
  endOf,
  findById,
  findRecord,
  inSeconds,
  random22,
  removeById,
  saveRecord,
  threeVersions,
} from '../support/stores/records'
import { countersOf } from '../support/stores/records'
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
const notes = {
  registration: { client_id: 'notes', client_type: 'public', scope: 'a' },
  issuedAt: 1,
  secretExpiries: [],
  registrationTokenDigest: undefined,
  issuerDigest: 'Zk3-_qVb09XxYyAa',
  tokenLifetime: 3600,
} as const
const addition = { client: notes, lifetime: 60, maximum: 1 }
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
      losing(({ clients }) => clients.add(photos)),
      async ({ clients }) => (await clients.find('photos')) !== undefined,
    ],
    [
      'of a client that is changed',
      ({ clients }) => clients.add(photos),
      async ({ clients }, lose) => {
        const changed = await clients.update('photos', (found) => {
          lose()
          return { ...found, scope: `${found.scope}b` }
        })
        return changed?.scope === 'ab'
      },
      async ({ clients }) => (await clients.find('photos'))?.scope === 'ab',
    ],
    [
      'of a client that registers itself',
      async () => true,
      losing(async (s) => (await s.dynamicClients.add(addition)).outcome === 'stored'),
      async (s) => (await s.dynamicClients.find('notes')) !== undefined,
    ],
    [
      'of a client that registered itself and changes',
      (s) => s.dynamicClients.add(addition).then(() => true),
      async ({ dynamicClients }, lose) => {
        const changed = await dynamicClients.update('notes', (found) => {
          lose()
          return { ...found, issuedAt: found.issuedAt + 1 }
        })
        return changed?.issuedAt === 2
      },
      async (s) => (await s.dynamicClients.find('notes'))?.issuedAt === 2,
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

  it.each(['HSETNX', 'EVALSHA'])('of %s makes the registry of clients look once more', async (lost) => {
    let isFailing = false
    const call = async (command: string, ...words: string[]) => {
      const answer: unknown = await redis.call(command, ...words)
      if (command !== lost || !isFailing) return answer
      isFailing = false
      throw new Error('Command timed out')
    }
    const { clients } = redisStore({ client: { call }, prefix: uniquePrefix() })
    isFailing = lost === 'HSETNX'
    expect(await clients.add(photos)).toBe(true)
    await clients.update('photos', (found) => ({ ...found, scope: 'b' }))
    isFailing = lost === 'EVALSHA'
    expect(await clients.update('photos', (found) => ({ ...found, scope: 'c' }))).toMatchObject({
      scope: 'c',
    })
    expect(await clients.list()).toEqual([{ ...photos, scope: 'c' }])
  })
})

describe('A command that creates something', () => {
  /** Where the deadline is: of a record after the word that says so, of a client that registers itself at the end. */
  function deadlineAt(words: readonly string[]): number {
    if (words[4] === 'create') return 5
    return words.length >= 8 && words.some((word) => /^.{22}\{/.test(word)) ? words.length - 1 : -1
  }

  const deadlineOf = (words: readonly string[]) => Number(words[deadlineAt(words)] ?? 0)

  /** Another deadline, if there is one: 0 says that the time of Redis is not known yet. */
  const withDeadline = (words: readonly string[], change: (deadline: number) => number) =>
    deadlineOf(words) > 0 ? words.with(deadlineAt(words), String(change(deadlineOf(words)))) : [...words]

  /** The client of a Redis whose clock is ahead of its real one. */
  function redisAhead(milliseconds: () => number): RedisCommands {
    return {
      call: async (command, ...words) => {
        const sent = withDeadline(words, (deadline) => deadline - milliseconds())
        const reply: unknown = await redis.call(command, ...sent)
        if (deadlineAt(words) < 0 || typeof reply !== 'number' || reply === 0) return reply
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
    expect(await endOf(store.dynamicClients.add(addition))).toMatch('too late')
    expect([await findById(store, authorization.id), await store.dynamicClients.find('notes')]).toEqual([
      undefined,
      undefined,
    ])
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
    await store.dynamicClients.add(addition)
    await removeById(store, record.id)
    await store.dynamicClients.remove('notes')
    const arriveAgain = async () => {
      for (const [command, ...words] of creates) await redis.call(command, ...words).catch(() => {})
      return [await findById(store, record.id), await store.dynamicClients.find('notes')]
    }
    expect(creates.length).toBeGreaterThanOrEqual(2)
    expect(await arriveAgain()).toEqual([undefined, undefined])
    const latest = Math.max(...creates.map(([, ...words]) => deadlineOf(words)))
    await waitUntil('the deadlines are over', async () => {
      const [seconds, micros] = await redis.time()
      return Number(seconds) * 1000 + Number(micros) / 1000 > latest
    })
    const markOfClient = `${prefix}{dynamic-clients}-removed:notes`
    expect(await redis.del(`${prefix}authorization:${record.id}`, markOfClient)).toBe(2)
    expect(await arriveAgain()).toEqual([undefined, undefined])
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
    ['a look-up of a client', 7, ({ clients }) => clients.find('photos'), 'something other than text'],
    ['a list of clients', 7, ({ clients }) => clients.list(), 'something other than'],
    ['an entry of an owner', 'OK', ({ index }) => index.list('owner'), 'something else'],
    [
      'a new entry',
      'OK',
      ({ index }) => index.add('o', { authorizationId: 'a', clientId: 'c' }, { seconds: 1, age: 0 }),
      'something else',
    ],
    ['a mark', 'soon', ({ index }) => index.revokedBefore('photos'), 'other than the mark of a client'],
  ])(
    'that answers %s with something strange fails, and does not look like an empty store',
    async (_what, answer, act, problem) => {
      expect(await endOf(act(redisStore({ client: client(answer) })))).toMatch(problem)
    },
  )

  it.each([undefined, {}, 'OK', 7])('that answers an addition of a client with %p fails', async (answer) => {
    const call = async (command: string) => (command === 'HGET' ? null : answer)
    expect(await endOf(redisStore({ client: { call } }).clients.add(photos))).toMatch('something other')
  })

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
    const answers: Record<string, unknown> = { HGET: `${'x'.repeat(22)}{"client_id":"photos"}`, EVALSHA: 0 }
    const { clients } = redisStore({ client: { call: async (command) => answers[command] } })
    expect(await endOf(clients.update('photos', () => photos))).toMatch('in each of 100 rounds')
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
