import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { memoryStore, type AuthorizationServerOptions, type Store } from '../../../lib/index'
import { redisStore } from '../../../lib/paths/redis'
import { withRedis } from '../with-redis'
import { application, type Application, type Hosting } from './application'
import { Clock } from './clock'
import { ObservedStore } from './observed-store'

/** The canonical host application on a store and in a time of its own. */
export interface Stage extends Application {
  readonly clock: Clock
  readonly store: ObservedStore
}

/** Sets the stage for one test. */
export type SetStage = (options?: Partial<AuthorizationServerOptions>, hosting?: Hosting) => Stage

export type OpenStore = (clock: () => number) => ConstructorParameters<typeof ObservedStore>[0]

declare const storesOfRun: readonly (keyof typeof stores)[]

/**
 * Tells stories on each store of the run: Redis alone, unless the Jest project says otherwise. In a database each stage
 * has keys of its own.
 */
export function describeOnStores(title: string, stories: (stage: SetStage) => void): void {
  describe.each(storesOfRun)(`${title} (%s)`, (name) => stories(stageOn(stores[name]())))
}

/** Sets stages on stores that are opened so. */
export function stageOn(open: OpenStore): SetStage {
  return (options, hosting) => {
    const clock = new Clock()
    const store = new ObservedStore(open(clock.read))
    const always = { store, clock: clock.read }
    return { ...application({ ...always, ...options }, hosting), clock, store }
  }
}

/** Opens stores of the run, or of the first kind if it has more. */
export function storesHere(): OpenStore {
  const [name = 'Redis'] = storesOfRun
  return stores[name]()
}

function inMemory(): OpenStore {
  return (clock) => memoryStore({ clock })
}

/** Opens stores on one Redis, which runs while the tests of this file or group do. */
function onRedis(): OpenStore {
  let client: Redis
  withRedis((started) => {
    client = started.client
  })
  return (clock) => redisStore({ client, prefix: `flow:${randomUUID()}:`, clock })
}

/** Opens stores in one file, in memory where the machine has such a folder: other tests look at what SQLite flushes. */
function onSqlite(): OpenStore {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'flows-'))
  let store: Store
  let now: () => number = Date.now
  beforeAll(async () => {
    const { sqliteStore } = await import('express-authorization-server/sqlite')
    store = sqliteStore({ path: join(folder, 'flows.db'), clock: () => now() })
    // Opens it: on a machine under load that takes longer than a create may.
    await store.check?.('')
  })
  afterAll(async () => {
    await store.close?.()
    rmSync(folder, { recursive: true })
  })
  return (clock) =>
    apart(() => {
      now = clock
      return store
    })
}

/** Opens stores on the PostgreSQL of the run. */
function onPostgres(): OpenStore {
  let store: Store
  let end = async () => {}
  beforeAll(async () => {
    const [{ Pool }, { postgresSchema, postgresStore }] = await Promise.all([
      import('pg'),
      import('express-authorization-server/postgres'),
    ])
    const pool = new Pool({ connectionString: process.env['POSTGRES_URL'] })
    end = () => pool.end()
    const table = `flows_${randomUUID()}`
    await pool.query(postgresSchema({ table }))
    store = postgresStore({ pool, table })
    // Learns the time of the database, without which a create takes two statements.
    await store.write(`first:${randomUUID()}`, '{}', { version: '1'.repeat(22), seconds: 1 })
  })
  afterAll(() => end())
  return () => apart(() => store)
}

/** A store whose keys are its own among those of others. */
function apart(find: () => Store): Store {
  const stage = randomUUID()
  // Behind the kind, which stores look at.
  const own = (key: string) => key.replace(/^[^:]*/, `$&:${stage}`)
  return {
    read: async (key) => find().read(own(key)),
    write: async (key, ...words) => find().write(own(key), ...words),
    remove: async (key) => find().remove(own(key)),
    add: async (key, ...words) => find().add(own(key), ...words),
    async list(kind) {
      const keys = await find().list(kind)
      return keys.filter((key) => key.startsWith(`${stage}:`)).map((key) => key.slice(stage.length + 1))
    },
  }
}

const stores = { memory: inMemory, Redis: onRedis, SQLite: onSqlite, PostgreSQL: onPostgres }
