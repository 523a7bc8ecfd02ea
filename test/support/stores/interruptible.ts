import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { postgresSchema, postgresStore } from 'express-authorization-server/postgres'
import { sqliteStore } from 'express-authorization-server/sqlite'
import type { Store } from '../../../lib/index'
import { redisStore } from '../../../lib/paths/redis'
import { startRedis } from '../redis-server'
import { openWay } from './open-way'

/** A database that can stall, and be away. */
export interface Interruptible {
  /** A store with connections of its own. */
  open(): Store
  stall(): Promise<void>
  goOn(): Promise<void>
  leave(): Promise<void>
  comeBack(): Promise<void>
  stop(): Promise<void>
  /** Whether it answers reads while it stalls. */
  readonly readsOn: boolean
  /** Whether it has its records when it comes back. */
  readonly keeps: boolean
}

export const interruptible = { Redis: onRedis, SQLite: onSqlite, PostgreSQL: onPostgres }

async function onRedis(): Promise<Interruptible> {
  let redis = await startRedis({ own: true })
  const { url, port } = redis
  const prefix = `outage:${randomUUID()}:`
  return {
    open: () => redisStore({ url, prefix }),
    stall: () => redis.kill('SIGSTOP'),
    goOn: () => redis.kill('SIGCONT'),
    leave: () => redis.stop(),
    async comeBack() {
      redis = await startRedis({ port })
    },
    stop: () => redis.stop(),
    readsOn: false,
    keeps: false,
  }
}

const lockScript = `
const database = new (require('node:sqlite').DatabaseSync)(process.argv[1])
database.exec('begin immediate')
console.log('locked')
process.stdin.resume()`

/** A reader of SQLite does not wait for who writes. */
async function onSqlite(): Promise<Interruptible> {
  const folder = mkdtempSync(join(tmpdir(), 'outage-'))
  const path = join(folder, 'oauth.db')
  let release = async () => {}
  return {
    open: () => sqliteStore({ path }),
    async stall() {
      const other = spawn(process.execPath, ['--no-warnings', '-e', lockScript, path])
      await once(other.stdout, 'data')
      release = async () => {
        other.kill()
        await once(other, 'close')
      }
    },
    goOn: () => release(),
    leave: async () => renameSync(path, `${path}.away`),
    comeBack: async () => renameSync(`${path}.away`, path),
    stop: async () => rmSync(folder, { recursive: true }),
    readsOn: true,
    keeps: true,
  }
}

async function onPostgres(): Promise<Interruptible> {
  const url = new URL(process.env['POSTGRES_URL'] ?? '')
  const table = `outage_${randomUUID()}`
  const direct = new Pool({ connectionString: url.href })
  await direct.query(postgresSchema({ table }))
  await direct.end()
  const way = await openWay(Number(url.port))
  url.port = String(way.port)
  const pools: Pool[] = []
  return {
    open() {
      const timeouts = { connectionTimeoutMillis: 1000, query_timeout: 2000 }
      const pool = new Pool({ connectionString: url.href, ...timeouts })
      pool.on('error', () => {})
      pools.push(pool)
      return postgresStore({ pool, table })
    },
    stall: async () => way.hold(),
    goOn: async () => way.release(),
    leave: () => way.cut(),
    comeBack: () => way.open(),
    async stop() {
      await way.close()
      await Promise.all(pools.map((pool) => pool.end()))
    },
    readsOn: false,
    keeps: true,
  }
}
