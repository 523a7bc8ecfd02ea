import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Pool } from 'pg'
import { postgresSchema, postgresStore } from 'express-authorization-server/postgres'
import { storeContract } from '../../../lib/paths/testing'
import { bundled } from '../../support/bundled'
import { startRedisProxy } from '../../support/stores/redis-proxy'
import { type Query, watched, withPostgres } from '../../support/stores/postgres-under-test'
import type { RivalPlan } from '../../support/stores/postgres-rival'
import { endOf, random22 } from '../../support/stores/records'
import { waitUntil } from '../../support/wait-until'

const postgres = withPostgres()
const { open, advance, waiting } = postgres

const storeOn = (pool: Pool) => postgresStore({ pool })
const parallel = <T>(count: number, act: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)))
const keyOf = (kind = 'authorization') => `${kind}:${random22()}`
const fresh = (seconds = 60) => ({ version: random22(), seconds })

storeContract('postgresStore keeps the contract', () => {
  const store = storeOn(postgres.pool())
  return { store, other: storeOn(postgres.pool()), advance }
})

describe('writes and counts in parallel', () => {
  it('have one winner, and exact counts, in two processes with 64 at once each', async () => {
    const [key, stored] = [keyOf(), random22()]
    await storeOn(postgres.pool()).write(key, '1', { version: stored })
    const plan: RivalPlan = { url: postgres.server().url, key, stored, at: Date.now() + 3000 }
    const rival = bundled(join(__dirname, '../../support/stores/postgres-rival.ts'))
    const run = async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [rival, JSON.stringify(plan)])
      return JSON.parse(stdout)
    }
    const [one, other] = await Promise.all([run(), run()])
    expect([one.created + other.created, one.replaced + other.replaced]).toEqual([1, 1])
    const counts = [...one.counts, ...other.counts].toSorted((a, b) => a - b)
    expect(counts).toEqual(Array.from({ length: 128 }, (_, index) => index + 1))
  })

  it('to one count go together: 64 additions take one statement, and one more to take them back', async () => {
    const { store, statements } = watched(postgres.pool())
    const key = keyOf('count')
    const counts = async (amount: 1 | -1) =>
      (await parallel(64, () => store.add(key, amount, 60))).map(({ count }) => count)
    const up = Array.from({ length: 64 }, (_, index) => index + 1)
    expect(await counts(1)).toEqual(up)
    expect(await counts(-1)).toEqual(up.toReversed().map((count) => count - 1))
    expect(statements()).toHaveLength(2)
  })

  it('to one count are exact also where additions and their return mix', async () => {
    const store = storeOn(postgres.pool())
    const key = keyOf('count')
    const last = await parallel(64, async (index) => {
      await store.add(key, 1, 60)
      return index % 4 === 0 ? store.add(key, 1, 60) : store.add(key, -1, 60)
    })
    for (const { count, secondsLeft } of last)
      expect([count > 0, secondsLeft > 0]).toEqual([count > 0, count > 0])
    expect((await store.add(key, 1, 60)).count).toBe(64 - 48 + 16 + 1)
  })

  it('to one count wait for no disk and no replica: only a crash may lose them', async () => {
    const pool = open({ max: 1 })
    const seen: string[] = []
    const query: Pool['query'] = pool.query.bind(pool)
    await pool.query(`create function tell() returns trigger language plpgsql as $$ begin
      raise notice '%', current_setting('synchronous_commit'); return new; end $$`)
    await pool.query(
      'create trigger tell before insert or update on oauth_records_counts for each row execute function tell()',
    )
    await pool.query(
      'create trigger tell before insert or update on oauth_records for each row execute function tell()',
    )
    const client = await pool.connect()
    client.on('notice', ({ message }) => seen.push(message ?? ''))
    client.release()
    const store = postgresStore({ pool: { query } })
    await store.add(keyOf('count'), 1, 60)
    await store.write(keyOf(), '1', fresh())
    expect(seen).toEqual(['off', 'on'])
    await pool.query('drop function tell cascade')
  })

  it.each(['repeatable read', 'serializable'])(
    'have one winner, and exact counts, where a host has made %s the default',
    async (isolation) => {
      const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
      const [one, other] = [storeOn(open({ options })), storeOn(open({ options }))]
      const [key, expected] = [keyOf(), random22()]
      await one.write(key, '1', { version: expected })
      const stored = await parallel(50, (index) =>
        (index % 2 ? one : other).write(key, '1', { version: random22(), expected }),
      )
      expect(stored.filter(Boolean)).toHaveLength(1)
      const created = await parallel(50, (index) =>
        (index % 2 ? one : other).write(`${key}:new`, '1', fresh()),
      )
      expect(created.filter(Boolean)).toHaveLength(1)
      const counts = await parallel(50, (index) => (index % 2 ? one : other).add(key, 1, 60))
      expect(counts.map(({ count }) => count).toSorted((a, b) => a - b)).toEqual(
        Array.from({ length: 50 }, (_, index) => index + 1),
      )
    },
  )
})

describe('one statement a verb', () => {
  it('is prepared, and holds for reads, writes, removals, counts and lists; the first create of a process needs two', async () => {
    const { store, statements, sent } = watched(postgres.pool())
    const [key, first] = [keyOf(), fresh()]
    const cost = async (act: () => Promise<unknown>) => {
      const before = statements().length
      await act()
      return statements().length - before
    }
    expect(await cost(() => store.write(key, '1', first))).toBe(2)
    for (const act of [
      () => store.write(keyOf(), '1', fresh()),
      () => store.write(key, '1', first),
      () => store.write(key, '1', fresh()),
      () => store.write(key, '2', { ...fresh(), expected: first.version }),
      () => store.read(key),
      () => store.remove(key),
      () => store.read(key),
      () => store.add(key, 1, 60),
      () => store.list('client'),
    ])
      expect(await cost(act)).toBe(1)
    const names = new Map(sent.map(({ name, text }) => [name, text]))
    expect(names.size).toBe(new Set(sent.map(({ text }) => text)).size)
    const prepared = await postgres.pool().query('select name from pg_prepared_statements')
    expect(prepared.rows.every(({ name }) => names.has(name))).toBe(true)
  })

  it('takes a second to know a rival whose row is younger than its snapshot', async () => {
    const { store, statements } = watched(postgres.pool())
    await store.write(keyOf(), '1', fresh())
    const ended = async (rivalVersion: string) => {
      const key = keyOf()
      const rival = await postgres.pool().connect()
      await rival.query('begin')
      await rival.query(`insert into oauth_records values ($1, $2, '', now() + interval '1 minute')`, [
        key,
        rivalVersion,
      ])
      const before = statements().length
      const end = endOf(store.write(key, '1', { version: 'A'.repeat(22) }))
      await waitUntil('the create waits', async () => (await waiting('Lock')) === 1)
      await rival.query('commit')
      rival.release()
      return [await end, statements().length - before]
    }
    expect(await ended(random22())).toEqual([false, 2])
    expect(await ended('A'.repeat(22))).toEqual([true, expect.any(Number)])
    expect(await ended('')).toEqual([expect.stringContaining('removed'), 2])
  })

  it('serves two tables on one pool, also in schemas of odd names', async () => {
    const pool = postgres.pool()
    const tables = { schema: `Host's "own" schema`, table: 'select; %s' }
    await pool.query(`create schema "Host's ""own"" schema"`)
    for (let round = 0; round < 2; round++) await pool.query(postgresSchema(tables))
    const [own, usual] = [postgresStore({ pool, ...tables }), storeOn(pool)]
    const key = keyOf('client')
    await own.write(key, '"own"', { version: random22() })
    await own.add(key, 1, 60)
    expect(await usual.read(key)).toBeUndefined()
    expect((await usual.add(key, 1, 60)).count).toBe(1)
    expect([await own.list('client'), await usual.list('client')]).toEqual([
      [key.slice(7)],
      expect.not.arrayContaining([key.slice(7)]),
    ])
    await own.remove(key)
    await expect(usual.write(key, '"usual"', fresh())).resolves.toBe(true)
  })
})

describe('a late copy of a create', () => {
  /** Until its deadline is over. */
  const over = async (create: Query | undefined) => setTimeout(Number(create?.values.at(-1)) - Date.now() + 1)

  it('is void after its deadline, also where a mark has ended', async () => {
    const { store, sent } = watched(postgres.pool())
    await store.write(keyOf(), '1', fresh())
    const key = keyOf()
    await store.write(key, '1', fresh())
    const copy = sent.findLast(({ values }) => values.includes(key))
    if (copy === undefined) throw new Error('Nothing was sent.')
    const arrive = async () => {
      await postgres.pool().query(copy)
      return store.read(key)
    }
    await store.remove(key)
    expect(await arrive()).toBeUndefined()
    await over(copy)
    await advance(124)
    await postgres.pool().query('delete from oauth_records where key = $1', [key])
    expect(await arrive()).toBeUndefined()
  })

  it('is void where its deadline lies so far ahead that a mark could end before', async () => {
    const { store, sent } = watched(postgres.pool())
    await store.write(keyOf(), '1', fresh())
    const create = sent.findLast(({ text }) => text.includes('late'))
    if (create === undefined) throw new Error('Nothing was sent.')
    const key = keyOf()
    for (const [ahead, reply] of [
      [123, /^\d{13}$/],
      [125, /^-\d{13}$/],
    ] as const) {
      const values = [`${key}${ahead}`, ...create.values.slice(1, 4), Date.now() + ahead * 1000]
      expect((await postgres.pool().query({ ...create, values })).rows).toMatchObject([
        { reply: expect.stringMatching(reply) },
      ])
    }
  })

  it('may store within its deadline although the pool gave up; repeated, it knows that, and after the deadline it is void', async () => {
    const { store: impatient, sent } = watched(open({ query_timeout: 300 }))
    await impatient.write(keyOf(), '1', fresh())
    const lock = await postgres.pool().connect()
    const whileLocked = async (until: () => Promise<unknown>) => {
      const [key, terms] = [keyOf(), fresh()]
      await lock.query('begin; lock table oauth_records in access exclusive mode')
      expect(await endOf(impatient.write(key, '1', terms))).toContain('Query read timeout')
      await until()
      await lock.query('commit')
      await waitUntil('nothing waits', async () => (await waiting('Lock')) === 0)
      return { key, terms }
    }
    const early = await whileLocked(async () => {})
    const stored = await impatient.read(early.key)
    const again = await impatient.write(early.key, '1', early.terms)
    const late = await whileLocked(() => over(sent.findLast(({ text }) => text.includes('late'))))
    lock.release()
    expect([stored?.version, again]).toEqual([early.terms.version, true])
    expect(await impatient.read(late.key)).toBeUndefined()
  })

  it('is known to be stored where its reply was lost with the connection', async () => {
    let losing = false
    const proxy = await startRedisProxy(postgres.server().port, () => ({
      replied: (pass, client) => (losing ? client.destroy() : pass()),
    }))
    const store = storeOn(
      open({ connectionString: `postgres://postgres@${new URL(proxy.url).host}/postgres`, max: 1 }),
    )
    const [key, terms] = [keyOf(), fresh()]
    await store.write(keyOf(), '1', fresh())
    losing = true
    expect(await endOf(store.write(key, '1', terms))).toContain('Connection terminated unexpectedly')
    losing = false
    expect(await store.write(key, '1', terms)).toBe(true)
    await proxy.stop()
  })
})

describe('a pool in trouble', () => {
  it('that is exhausted fails the verb, and a create that waited too long stores nothing', async () => {
    const one = open({ max: 1, connectionTimeoutMillis: 1000 })
    const patient = open({ max: 1 })
    const [quick, slow] = [storeOn(one), storeOn(patient)]
    await Promise.all([quick, slow].map((store) => store.write(keyOf(), '1', fresh())))
    const taken = await Promise.all([one.connect(), patient.connect()])
    const key = keyOf()
    expect(await endOf(quick.read(key))).toContain('timeout exceeded when trying to connect')
    const created = endOf(slow.write(key, '1', fresh()))
    await setTimeout(2100)
    for (const each of taken) each.release()
    expect(await created).toContain('too late')
    expect(await slow.read(key)).toBeUndefined()
    expect(await quick.read(key)).toBeUndefined()
  })

  it('whose database is silent fails by its own time limit, and a count in 2 s without one; then it goes on', async () => {
    let isSilent = false
    const proxy = await startRedisProxy(postgres.server().port, () => ({
      holds: () => isSilent,
    }))
    const connectionString = `postgres://postgres@${new URL(proxy.url).host}/postgres`
    const limited = storeOn(open({ connectionString, query_timeout: 200, connectionTimeoutMillis: 200 }))
    const endless = open({ connectionString })
    const count = storeOn(endless)
    const key = keyOf('count')
    await Promise.all([limited.read(key), count.add(key, 1, 60)])
    isSilent = true
    expect(await endOf(limited.read(key))).toContain('Query read timeout')
    const ends = await Promise.all([endOf(count.add(key, 1, 60)), endOf(limited.remove(key))])
    expect(ends).toEqual([
      expect.stringContaining('did not reply within 2 s'),
      expect.stringContaining('timeout'),
    ])
    isSilent = false
    expect((await count.add(key, 1, 60)).count).toBe(2)
    expect(await limited.read(key)).toBeUndefined()
    await proxy.stop()
  })

  it('gets new connections when all of them break', async () => {
    const store = storeOn(open({ max: 4 }))
    const key = keyOf()
    await store.write(key, '1', fresh())
    await postgres
      .pool()
      .query('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()')
    await waitUntil('it answers again', async () => typeof (await endOf(store.read(key))) !== 'string')
    expect(await store.read(key)).toMatchObject({ value: '1' })
  })

  it('has ended', async () => {
    const pool = open()
    await pool.end()
    expect(await endOf(storeOn(pool).read(keyOf()))).toContain('after calling end')
    pool.end = async () => {}
  })
})

describe('what has expired', () => {
  it('is deleted after a write, a thousand rows in a statement, past rows that others hold, and not again within a minute', async () => {
    const pool = postgres.pool()
    const rows = async () => {
      const { rows: found } = await pool.query(
        'select key from oauth_records where ends <= now() union all select key from oauth_records_counts where ends <= now()',
      )
      return found.map(({ key }) => String(key))
    }
    await pool.query(
      `insert into oauth_records select 'dead:' || n, 'x', '', now() - interval '1 hour' from generate_series(1, 2500) n`,
    )
    await pool.query(
      `insert into oauth_records_counts select 'dead:' || n, 1, now() - interval '1 hour' from generate_series(1, 1500) n`,
    )
    const [kept, ending] = [keyOf(), keyOf()]
    const { store, sent } = watched(pool)
    const holder = await pool.connect()
    await holder.query(`begin; select from oauth_records where key = 'dead:7' for update`)
    await store.write(kept, '1', { version: random22() })
    await waitUntil('one is left', async () => (await rows()).join() === 'dead:7')
    await holder.query('commit')
    holder.release()
    const sweeps = () => sent.filter(({ text }) => text.includes('skip locked')).length
    expect(sweeps()).toBe(5)
    await store.write(ending, '1', fresh(0))
    await store.add(kept, 1, 60)
    expect(sweeps()).toBe(5)
    expect(await rows()).toEqual(expect.arrayContaining(['dead:7', ending]))
    expect(await store.read(kept)).toBeDefined()
  })

  it('is no trouble of the write where it cannot be deleted', async () => {
    const pool = postgres.pool()
    const store = postgresStore({
      pool: {
        query: async (query) =>
          query.text.includes('skip locked') ? Promise.reject(new Error('no')) : pool.query(query),
      },
    })
    expect(await store.write(keyOf(), '1', fresh())).toBe(true)
    expect(await store.write(keyOf(), '1', fresh())).toBe(true)
  })
})
