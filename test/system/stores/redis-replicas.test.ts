import { Redis } from 'ioredis'
import { commit } from '../../../lib/authorization/commit'
import { secureRandom } from '../../../lib/protocol/credential'
import { confirmAbsence } from '../../../lib/authorization/store'
import { redisStore, type RedisStore } from '../../../lib/paths/redis'
import { startReplicatedRedis, type ReplicatedRedis } from '../../support/redis-replicated'
import { redisUnderTest, uniquePrefix } from '../../support/stores/redis-under-test'
import { waitUntil } from '../../support/wait-until'
import { storeContract } from '../../../lib/paths/testing'
import {
  authorizationsOf,
  endOf,
  findRecord,
  removeById,
  saveRecord,
  threeVersions,
} from '../../support/stores/records'

const wait = { replicas: 1, within: 0.5 }
const tooFew = 'The write reached 0 of 1 replicas within 0.5 s.'

it.each(
  [
    null,
    [],
    [[null, 1]],
    [
      [null, 1],
      [null, 'x'],
    ],
  ].map((answer) => [answer] as const),
)('a malformed reply of a client that waits for replicas is a failure: %j', async (answer) => {
  const exec = async (): Promise<[null, unknown][] | null> =>
    answer?.map(([, reply]) => [null, reply]) ?? null
  const client = { call: async () => null, pipeline: () => ({ exec }) }
  const store = redisStore({ client, waitForReplicas: wait })
  expect(await endOf(saveRecord(store, threeVersions()[0]))).toMatch(/one reply for each command|reached NaN/)
})

describe('redisStore that waits for a replica', () => {
  let redis: ReplicatedRedis
  let master: Redis
  let replica: Redis
  const stores: RedisStore[] = []
  beforeAll(async () => {
    redis = await startReplicatedRedis()
    master = new Redis(redis.master.url)
    replica = new Redis(redis.replica.url)
  })
  afterAll(async () => {
    master.disconnect()
    replica.disconnect()
    await redis.stop()
  })
  afterEach(async () => {
    await redis.replica.kill('SIGCONT')
    await Promise.all(stores.splice(0).map((store) => store.close()))
  })

  function open(options: { client?: Redis; prefix?: string } = {}): RedisStore {
    const { client, prefix = uniquePrefix() } = options
    const rest = { prefix, waitForReplicas: wait }
    const store = client ? redisStore({ client, ...rest }) : redisStore({ url: redis.master.url, ...rest })
    stores.push(store)
    return store
  }

  // Not the replication offset: waiting itself raises that one, by asking the replicas.
  const changes = async () => /rdb_changes_since_last_save:(\d+)/.exec(await master.info('persistence'))?.[1]

  storeContract('keeps the contract over connections of its own', async () =>
    // Long enough for a mebibyte on a busy machine.
    redisUnderTest({ url: redis.master.url, waitForReplicas: { replicas: 1, within: 5 } }, () => [master]),
  )

  it('has on the replica what it calls saved, and not any more what it calls removed [revocation-6]', async () => {
    const prefix = uniquePrefix()
    const store = open({ prefix })
    for (let round = 0; round < 10; round++) {
      const [first] = threeVersions()
      const key = `${prefix}authorization:${first.authorization.id}`
      await saveRecord(store, first)
      expect(await replica.strlen(key)).toBeGreaterThan(0)
      await removeById(store, first.authorization.id)
      expect(await replica.get(key)).toBe('')
    }
  })

  it('rejects each write while the replica is silent, the repeated ones too, and goes on when it is back', async () => {
    const [first, second] = threeVersions()
    const store = open()
    await saveRecord(store, first)
    await redis.replica.kill('SIGSTOP')
    const writes = [
      () => saveRecord(store, second, first),
      () => saveRecord(store, second, first),
      () => saveRecord(store, second, second),
      () => removeById(store, first.authorization.id),
      () => removeById(store, first.authorization.id),
      () => confirmAbsence(authorizationsOf(store), first.authorization.id),
    ]
    for (const write of writes) await expect(write()).rejects.toThrow(tooFew)
    await redis.replica.kill('SIGCONT')
    await waitUntil('it can remove', () =>
      removeById(store, first.authorization.id).then(
        () => true,
        () => false,
      ),
    )
    expect(await saveRecord(store, threeVersions()[0])).toBe(true)
  })

  it.each(['save', 'remove', 'confirmAbsent'] as const)(
    'leaves something to wait for where a %s follows what another connection wrote',
    async (verb) => {
      const prefix = uniquePrefix()
      const [first] = threeVersions()
      const write = (store: RedisStore) =>
        verb === 'save'
          ? saveRecord(store, first)
          : verb === 'remove'
            ? removeById(store, first.authorization.id)
            : confirmAbsence(authorizationsOf(store), first.authorization.id)
      await write(open({ prefix }))
      const other = open({ prefix })
      // Opens its connection and leaves the scripts with Redis.
      await write(other)
      const before = await changes()
      await write(other)
      expect(Number(await changes())).toBeGreaterThan(Number(before))
    },
  )

  it('waits for no replica where a record is there that it was to confirm the absence of', async () => {
    const [first] = threeVersions()
    const store = open()
    await saveRecord(store, first)
    await redis.replica.kill('SIGSTOP')
    expect(await confirmAbsence(authorizationsOf(store), first.authorization.id)).toBe(false)
  })

  it('leaves no trace of a confirmation that nothing is there', async () => {
    const prefix = uniquePrefix()
    const [first] = threeVersions()
    const store = open({ prefix })
    expect(await confirmAbsence(authorizationsOf(store), first.authorization.id)).toBe(true)
    expect(await master.keys(`${prefix}*`)).toEqual([])
    expect(await findRecord(store, first)).toBeUndefined()
  })

  it('delivers nothing of a commit that did not reach the replica, and fails the next one as well', async () => {
    const [first, second] = threeVersions()
    const store = open()
    await saveRecord(store, first)
    await redis.replica.kill('SIGSTOP')
    const moves = () =>
      commit(
        authorizationsOf(store),
        first.authorization.id,
        () => ({ action: 'save', authorization: second.authorization, outcome: 'moved' }),
        secureRandom,
      )
    await expect(moves()).rejects.toThrow(tooFew)
    const removes = () =>
      commit(
        authorizationsOf(store),
        first.authorization.id,
        () => ({ action: 'delete', outcome: 'removed' }),
        secureRandom,
      )
    await expect(removes()).rejects.toThrow(tooFew)
    await expect(removes()).rejects.toThrow(tooFew)
  })

  it('does not make the loser of a race wait for replicas in vain', async () => {
    const [first, second] = threeVersions()
    const store = open()
    await saveRecord(store, first)
    await redis.replica.kill('SIGSTOP')
    expect(await saveRecord(store, second)).toBe(false)
  })

  it('saves and removes where the server has lost the scripts', async () => {
    const [first] = threeVersions()
    const store = open()
    await master.script('FLUSH')
    expect(await saveRecord(store, first)).toBe(true)
    await master.script('FLUSH')
    await removeById(store, first.authorization.id)
    expect(await findRecord(store, first)).toBeUndefined()
  })

  it('reads over a connection of its own while writes wait', async () => {
    const [first] = threeVersions()
    const patient = redisStore({
      url: redis.master.url,
      prefix: uniquePrefix(),
      waitForReplicas: { replicas: 1, within: 10 },
    })
    stores.push(patient)
    await saveRecord(patient, first)
    await redis.replica.kill('SIGSTOP')
    let settled = false
    const removal = removeById(patient, first.authorization.id).finally(() => {
      settled = true
    })
    await waitUntil('the removal waits', async () => (await findRecord(patient, first)) === undefined)
    expect(settled).toBe(false)
    await redis.replica.kill('SIGCONT')
    await expect(removal).resolves.toBeUndefined()
  })

  it('is refused before anything is written where the server itself asks for replicas', async () => {
    const [first, second] = threeVersions()
    const store = open()
    await saveRecord(store, first)
    await redis.replica.kill('SIGSTOP')
    await master.config('SET', 'min-replicas-max-lag', '1')
    await master.config('SET', 'min-replicas-to-write', '1')
    try {
      await waitUntil('the replica lags', async () =>
        (await master.info()).includes('min_slaves_good_slaves:0'),
      )
      await expect(saveRecord(store, second, first)).rejects.toThrow('NOREPLICAS')
      expect(await findRecord(store, first)).toEqual(first)
    } finally {
      await master.config('SET', 'min-replicas-to-write', '0')
    }
  })
})
