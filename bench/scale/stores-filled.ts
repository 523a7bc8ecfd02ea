import { encodeAuthorization, memoryStore, type Store } from 'express-authorization-server'
import { redisStore } from 'express-authorization-server/redis'
import { postgresSchema, postgresStore } from 'express-authorization-server/postgres'
import { sqliteStore } from 'express-authorization-server/sqlite'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { startPostgres } from '../../test/support/postgres-server'
import { record } from '../record'
import { startRedis } from '../redis'
import { memoryOf } from './fill'

export type Kind = 'authorization' | 'document'

/** A place that a database fills by itself, because a million calls of a store take long. */
export interface Filled {
  /** A store as another process opens it. */
  open(): Store
  /** Creates records, from an index up to another, which end after so many seconds. */
  fill(kind: Kind, from: number, to: number, seconds: number): Promise<void>
  count(kind: Kind): Promise<number>
  bytes(): Promise<number>
  stop(): Promise<void>
}

export const value = encodeAuthorization(record)
export const versionOf = (index: number): string => String(index).padStart(22, '-')
const first = versionOf(0)

// Each number below 2 ** 32 once, in no order. Every database reckons it.
const [factor, modulus, ending] = [2_654_435_761, 4_294_967_296, '-'.repeat(12)]
export const keyOf = (kind: Kind, index: number): string =>
  `${kind}:${String((index * factor) % modulus).padStart(10, '0')}${ending}`

const between = (kind: Kind) => `key >= '${kind}:' and key < '${kind};'`

async function memory(): Promise<Filled> {
  const store = memoryStore({ maximumRecords: 2_000_000 })
  return {
    open: () => store,
    async fill(kind, from, to, seconds) {
      // Each has a text of its own.
      for (let index = from; index < to; index++)
        await store.write(keyOf(kind, index), Buffer.from(value).toString(), { version: first, seconds })
    },
    // A store does not tell it.
    count: async (kind) => Reflect.get(store, 'rooms').get(kind)?.entries.size ?? 0,
    bytes: async () => {
      globalThis.gc?.()
      return process.memoryUsage().heapUsed
    },
    stop: async () => {},
  }
}

async function sqlite(): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), 'stores-'))
  const path = join(folder, 'oauth.db')
  const store = sqliteStore({ path })
  await store.check?.('')
  await store.close?.()
  const { DatabaseSync } = createRequire(__filename)('node:sqlite')
  const database = new DatabaseSync(path)
  return {
    open: () => sqliteStore({ path }),
    async fill(kind, from, to, seconds) {
      database.exec(`with recursive some (i) as (select ${from} union all select i + 1 from some where i + 1 < ${to})
        insert into records (key, version, value, ends)
        select printf('${kind}:%010d${ending}', i * ${factor} % ${modulus}), '${first}', '${value}',
          ${Date.now() + seconds * 1000} from some`)
      database.exec('pragma wal_checkpoint(truncate)')
    },
    count: async (kind) =>
      database.prepare(`select count(*) as rows from records where ${between(kind)}`).get().rows,
    bytes: async () => statSync(path).size,
    async stop() {
      database.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function redis(): Promise<Filled> {
  const server = await startRedis('anywhere')
  const { url, client } = server
  const script = `for i = ARGV[1], ARGV[2] - 1 do
    local number = string.format('%010.0f', i * ${factor} % ${modulus})
    redis.call('SET', ARGV[3] .. number .. '${ending}', ARGV[4], 'PX', ARGV[5])
  end`
  return {
    open: () => redisStore({ url }),
    async fill(kind, from, to, seconds) {
      for (let index = from; index < to; index += 1000) {
        const words = [index, Math.min(index + 1000, to), `oauth:${kind}:`, first + value, seconds * 1000]
        await client.eval(script, 0, ...words)
      }
    },
    async count(kind) {
      let [cursor, rows] = ['0', 0]
      do {
        const [next, keys] = await client.scan(cursor, 'MATCH', `oauth:${kind}:*`, 'COUNT', 10_000)
        cursor = next
        rows += keys.length
      } while (cursor !== '0')
      return rows
    },
    bytes: () => memoryOf(client),
    stop: async () => server.stop(),
  }
}

async function postgres(): Promise<Filled> {
  const server = await startPostgres(undefined, ['fsync=on'])
  const pools: Pool[] = []
  const pool = (max: number) => {
    const made = new Pool({ connectionString: server.url, max })
    pools.push(made)
    return made
  }
  const own = pool(1)
  await own.query(postgresSchema())
  const numberOf = async (text: string) => Number((await own.query<{ found: string }>(text)).rows[0]?.found)
  return {
    open: () => postgresStore({ pool: pool(20) }),
    async fill(kind, from, to, seconds) {
      await own.query(`insert into oauth_records (key, version, value, ends)
        select '${kind}:' || lpad((i * ${factor} % ${modulus})::text, 10, '0') || '${ending}', '${first}',
          convert_to('${value}', 'UTF8'), now() + ${seconds} * interval '1 second'
        from generate_series(${from}::bigint, ${to}::bigint - 1) as i`)
    },
    count: (kind) => numberOf(`select count(*) as found from oauth_records where ${between(kind)}`),
    bytes: () => numberOf("select pg_total_relation_size('oauth_records') as found"),
    async stop() {
      await Promise.all(pools.map((each) => each.end()))
      await server.stop()
    },
  }
}

export const places: Readonly<Record<string, () => Promise<Filled>>> = { memory, sqlite, redis, postgres }
