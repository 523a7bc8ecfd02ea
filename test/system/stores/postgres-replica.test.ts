import { setTimeout } from 'node:timers/promises'
import { Pool } from 'pg'
import { postgresSchema, postgresStore, type PostgresStore } from 'express-authorization-server/postgres'
import { type PostgresServer, startPostgres } from '../../support/postgres-server'
import { random22 } from '../../support/stores/records'
import { waitUntil } from '../../support/wait-until'

const servers: PostgresServer[] = []
const pools: Pool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

function open(server: PostgresServer) {
  const pool = new Pool({
    connectionString: server.url,
    max: 8,
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
  })
  pool.on('error', () => {})
  pools.push(pool)
  return { pool, store: postgresStore({ pool }) }
}

/** A primary and a standby that has caught up. */
async function startPair({ synchronous = false } = {}) {
  const primary = await startPostgres()
  servers.push(primary)
  const { pool, store } = open(primary)
  await pool.query(postgresSchema())
  const standby = await startPostgres(primary)
  servers.push(standby)
  const streaming = (state: string) => async () =>
    (await pool.query('select from pg_stat_replication where sync_state = $1', [state])).rowCount === 1
  await waitUntil('the standby follows', streaming('async'))
  if (synchronous) {
    await pool.query(`alter system set synchronous_standby_names = '*'`)
    await pool.query('select pg_reload_conf()')
    await waitUntil('the primary waits for the standby', streaming('sync'))
  }
  const other = open(standby)
  const follow = async (place: string) => {
    await other.pool.query(`alter system set primary_conninfo = '${place}'`)
    await other.pool.query('select pg_reload_conf()')
  }
  return {
    store,
    pool,
    standby: other,
    /** From now on the standby gets no more changes, until what this returns is called. */
    async cut() {
      const { rows } = await other.pool.query('show primary_conninfo')
      await follow('')
      await waitUntil(
        'the standby is cut off',
        async () => (await pool.query('select from pg_stat_replication')).rowCount === 0,
      )
      return () => follow(String(rows[0]?.primary_conninfo).replaceAll("'", "''"))
    },
    /** The primary dies, and the standby takes over. */
    async failOver() {
      servers.splice(servers.indexOf(primary), 1)
      await primary.stop()
      await other.pool.query('select pg_promote()')
      return other.store
    },
  }
}

const create = async (store: PostgresStore) => {
  const [key, version] = [`authorization:${random22()}`, random22()]
  if (!(await store.write(key, '"first"', { version, seconds: 600 }))) throw new Error('The record is there.')
  return { key, version }
}

describe('with a standby that the primary waits for, a promotion', () => {
  it('loses nothing that was acknowledged, at whatever moment the primary dies', async () => {
    const pair = await startPair({ synchronous: true })
    const { store } = pair
    const [created, replaced] = [new Set<string>(), new Set<string>()]
    const removals = new Map<string, 'asked' | 'done'>()
    const over = new AbortController()
    const work = async () => {
      while (!over.signal.aborted) {
        const { key, version } = await create(store)
        created.add(key)
        await store.write(key, '"second"', { version: random22(), expected: version, seconds: 600 })
        replaced.add(key)
        if (created.size % 2 === 0) continue
        removals.set(key, 'asked')
        await store.remove(key)
        removals.set(key, 'done')
      }
    }
    const workers = [1, 2, 3, 4].map(() => work().catch(() => {}))
    await waitUntil('enough is written', async () => created.size > 60)
    await setTimeout(Math.random() * 50)
    const promoted = await pair.failOver()
    over.abort()
    await Promise.all(workers)
    for (const key of created) {
      const found = (await promoted.read(key))?.value ?? 'none'
      const possible = replaced.has(key) ? ['"second"'] : ['"first"', '"second"']
      const removal = removals.get(key)
      expect(
        removal === 'done' ? ['none'] : removal === 'asked' ? [...possible, 'none'] : possible,
      ).toContain(found)
    }
  })

  it('acknowledges no write while the standby is away, and every count', async () => {
    const pair = await startPair({ synchronous: true })
    const { key, version } = await create(pair.store)
    const mend = await pair.cut()
    const replaced = pair.store.write(key, '"second"', { version: random22(), expected: version })
    const counts = await Promise.all([1, 2, 3].map(() => pair.store.add('count:a', 1, 60)))
    expect(counts.map(({ count }) => count)).toEqual([1, 2, 3])
    await expect(replaced).rejects.toThrow('Query read timeout')
    await mend()
    await waitUntil('it goes on', () =>
      pair.store.remove(key).then(
        () => true,
        () => false,
      ),
    )
    expect(await (await pair.failOver()).read(key)).toBeUndefined()
  })
})

describe('with a standby that the primary does not wait for, a promotion', () => {
  it('loses what the standby had not got: a removed record is back, a new one is gone, a count is smaller', async () => {
    const pair = await startPair()
    const { store } = pair
    const early = await create(store)
    await store.add('count:a', 1, 60)
    await waitUntil(
      'the standby has them',
      async () => (await pair.standby.pool.query('select from oauth_records_counts')).rowCount === 1,
    )
    await pair.cut()
    await store.remove(early.key)
    const late = await create(store)
    expect((await store.add('count:a', 1, 60)).count).toBe(2)
    const promoted = await pair.failOver()
    expect(await promoted.read(early.key)).toMatchObject({ version: early.version })
    expect(await promoted.read(late.key)).toBeUndefined()
    expect((await promoted.add('count:a', 1, 60)).count).toBe(2)
  })
})

it('a pool that is connected to a standby is warned of, and writes nothing', async () => {
  const { standby } = await startPair()
  expect(await standby.store.check()).toMatchObject([{ code: 'EAS_POSTGRES_STANDBY' }])
  await expect(create(standby.store)).rejects.toThrow('in a read-only transaction')
})
