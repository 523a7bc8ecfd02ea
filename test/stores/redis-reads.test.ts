import type { Redis } from 'ioredis'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createId, secureRandom } from '../../lib/protocol/credential'
import { Batcher } from '../../lib/stores/redis/batched-reads'
import { redisStore, type RedisStore } from '../../lib/stores/redis/redis-store'
import { findRecord, saveRecord, threeVersions } from '../../lib/testing/example-records'
import type { RedisServer } from '../support/redis-server'
import { watchCommands, type WatchedCommands } from '../support/reliability/watched-commands'
import { startRedisProxy } from '../support/stores/redis-proxy'
import { waitUntil } from '../support/wait-until'
import { withRedis } from '../support/with-redis'

const unwanted = 5

/** Records of which the last ones are not stored, the first one twice, and what is found when each is looked for. */
async function records(store: RedisStore) {
  const all = Array.from({ length: 20 }, () => threeVersions()[0])
  const stored = all.slice(unwanted)
  await Promise.all(stored.map((record) => saveRecord(store, record)))
  const wanted = [...stored, ...all.slice(0, unwanted), ...stored.slice(0, 1)]
  const expected = wanted.map((record) => (stored.includes(record) ? record : undefined))
  return { expected, findAll: () => Promise.all(wanted.map((record) => findRecord(store, record))) }
}

describe('Reads of one turn', () => {
  let server: RedisServer
  let redis: Redis
  let watched: WatchedCommands
  withRedis((started) => ({ server, client: redis } = started), { own: true })
  beforeAll(async () => void (watched = await watchCommands(redis)))
  afterAll(() => watched.stop())
  const stores: RedisStore[] = []
  const storeOn = (options: Parameters<typeof redisStore>[0]) => {
    const store = redisStore(options)
    stores.push(store)
    return store
  }
  afterEach(() => Promise.all(stores.splice(0).map((store) => store.close())))

  it('go out as one command, and each finds its own', async () => {
    const { expected, findAll } = await records(storeOn({ url: server.url }))
    const { answer, sent } = await watched.during(findAll)
    expect(answer).toEqual(expected)
    expect(sent).toEqual(['MGET'])
  })

  it('are one command each over a client of the host, which may be a cluster', async () => {
    const { expected, findAll } = await records(storeOn({ client: redis }))
    const { answer, sent } = await watched.during(findAll)
    expect(answer).toEqual(expected)
    expect(new Set(sent)).toEqual(new Set(['GET']))
  })

  it('are an ordinary read when there is but one', async () => {
    const store = storeOn({ url: server.url })
    const [record] = threeVersions()
    await saveRecord(store, record)
    const { answer, sent } = await watched.during(() => findRecord(store, record))
    expect(answer).toEqual(record)
    expect(sent).toEqual(['GET'])
  })

  it('are one command each, for good, to a user of Redis who may not read several', async () => {
    await redis.call('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-mget')
    const url = server.url.replace('redis://', 'redis://limited:secret@')
    const { expected, findAll } = await records(storeOn({ url }))
    for (let time = 0; time < 3; time++) {
      const { answer, sent } = await watched.during(findAll)
      expect(answer).toEqual(expected)
      expect(new Set(sent)).toEqual(new Set(['GET']))
    }
    expect(await redis.info('commandstats')).toMatch(/cmdstat_mget:.*rejected_calls=1,/)
  })

  it('fail each when Redis fails', async () => {
    const store = storeOn({ url: server.url })
    const { findAll } = await records(store)
    await store.close()
    await expect(findAll()).rejects.toThrow('Connection is closed.')
  })
})

describe('Reads of one turn, at the only server of a cluster', () => {
  let server: RedisServer
  let redis: Redis
  withRedis((started) => ({ server, client: redis } = started), {
    extraArguments: ['--cluster-enabled', 'yes'],
  })
  beforeAll(async () => {
    await redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await waitUntil('the cluster is up', async () =>
      String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    )
  })

  it('are one command each, since their keys are in many slots', async () => {
    const store = redisStore({ url: server.url })
    const { expected, findAll } = await records(store)
    expect(await findAll()).toEqual(expected)
    expect(await findAll()).toEqual(expected)
    await store.close()
  })
})

let redisPort = 0
withRedis(({ server }) => void (redisPort = server.port))

test('what one turn asks of Redis goes out in one packet, and each turn in its own', async () => {
  let packets = 0
  const proxy = await startRedisProxy(redisPort, () => ({ sent: () => void (packets += 1) }))
  const store = redisStore({ url: proxy.url })
  const find = () => store.find(createId(secureRandom))
  await find()
  const before = packets
  await Promise.all(Array.from({ length: 50 }, find))
  expect(packets - before).toBe(1)
  const first = find()
  await nextTurn()
  await nextTurn()
  await Promise.all([first, find()])
  expect(packets - before).toBe(3)
  await store.close()
  await proxy.stop()
})

const outcomes = async (asked: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(asked)).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : `${outcome.reason}`,
  )

describe('Together', () => {
  it('asks as one what was asked until it is sent, and answers each', async () => {
    const sent: (readonly number[])[] = []
    const squares = new Batcher<number, number>(async (numbers) => {
      sent.push(numbers)
      return numbers.map((number) => number * number)
    })
    const first = [squares.add(2), squares.add(3), squares.add(2)]
    expect(sent).toEqual([])
    squares.flush()
    const second = [squares.add(4)]
    squares.flush()
    expect(await outcomes([...first, ...second])).toEqual([4, 9, 4, 16])
    expect(sent).toEqual([[2, 3, 2], [4]])
  })

  it('asks nothing when there is nothing to ask', () => {
    const askAll = jest.fn(async () => [])
    new Batcher(askAll).flush()
    expect(askAll).not.toHaveBeenCalled()
  })

  it('rejects each read after a failure, and asks again afterwards', async () => {
    let isDown = true
    const echo = new Batcher<string, string>(async (words) => {
      if (isDown) throw new Error('It is down.')
      return words
    })
    const asked = [echo.add('a'), echo.add('b')]
    echo.flush()
    expect(await outcomes(asked)).toEqual(['Error: It is down.', 'Error: It is down.'])
    isDown = false
    const again = [echo.add('c')]
    echo.flush()
    expect(await outcomes(again)).toEqual(['c'])
  })

  it.each([
    ['too few', ['a']],
    ['too many', ['a', 'b', 'c']],
  ])('gives no read the reply of another when there are %s', async (_, answers) => {
    const broken = new Batcher<string, string>(async () => answers)
    const asked = [broken.add('a'), broken.add('b')]
    broken.flush()
    const trouble = `Error: The batch of 2 calls got ${answers.length} results.`
    expect(await outcomes(asked)).toEqual([trouble, trouble])
  })
})
