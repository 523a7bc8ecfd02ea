import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresSchema } from 'express-authorization-server/postgres'
import { Cluster, Redis } from 'ioredis'
import { Pool } from 'pg'
import { extent } from '../extent'
import { requireNode } from '../nodes'
import { startPostgres } from '../postgres-server'
import { startRedisCluster } from '../redis-cluster'
import { startRedis } from '../redis-server'
import type { StorePlan } from '../store-plan'

/** The texts of records, by their keys. */
type Texts = ReadonlyMap<string, string>

/** A place in a database that processes share, where nothing is yet. */
export interface SharedPlace {
  readonly store: StorePlan
  /** What it holds under keys that begin so. */
  texts(beginning: string): Promise<Texts>
}

export interface Database {
  place(): Promise<SharedPlace>
  stop(): Promise<void>
}

const versionLength = 22

function placeOfRedis(
  way: { readonly url: string } | { readonly cluster: readonly { host: string; port: number }[] },
  client: Redis | Cluster,
): SharedPlace {
  const prefix = `processes:${randomUUID()}:`
  const masters = () => (client instanceof Cluster ? client.nodes('master') : [client])
  return {
    store: { ...way, prefix },
    async texts(beginning) {
      const pattern = `${prefix}${beginning}*`
      const keys = (await Promise.all(masters().map((node) => node.keys(pattern)))).flat()
      const texts = await Promise.all(
        keys.map(async (key) => [key.slice(prefix.length), (await client.get(key)) ?? ''] as const),
      )
      return new Map(
        texts.flatMap(([key, text]) => (text === '' ? [] : [[key, text.slice(versionLength)] as const])),
      )
    },
  }
}

async function openRedis(): Promise<Database> {
  const server = await startRedis()
  const client = new Redis(server.url)
  return {
    place: async () => placeOfRedis({ url: server.url }, client),
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}

async function openCluster(): Promise<Database> {
  const cluster = await startRedisCluster()
  const client = new Cluster(cluster.nodes)
  return {
    place: async () => placeOfRedis({ cluster: cluster.nodes }, client),
    async stop() {
      client.disconnect()
      await cluster.stop()
    },
  }
}

// Node 20, which runs the tests, has no SQLite.
const reading = `const { DatabaseSync } = require('node:sqlite')
const [, path, beginning] = process.argv
const rows = new DatabaseSync(path)
  .prepare("select key, value from records where version <> '' and substr(key, 1, length(:it)) = :it")
  .all({ it: beginning })
console.log(JSON.stringify(rows.map(({ key, value }) => [key, value])))`

async function openFolder(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
  return {
    async place() {
      const path = join(folder, `${randomUUID()}.db`)
      return {
        store: { sqlite: path },
        async texts(beginning) {
          const words = ['--no-warnings', '-e', reading, path, beginning]
          return new Map<string, string>(
            JSON.parse(execFileSync(requireNode(24), words, { encoding: 'utf8' })),
          )
        },
      }
    },
    stop: async () => rmSync(folder, { recursive: true }),
  }
}

async function openPostgres(): Promise<Database> {
  const server = await startPostgres()
  const pool = new Pool({ connectionString: server.url })
  return {
    async place() {
      const schema = `s${randomUUID()}`
      await pool.query(`create schema "${schema}"; ${postgresSchema({ schema })}`)
      return {
        store: { postgres: server.url, schema },
        async texts(beginning) {
          const { rows } = await pool.query<{ readonly key: string; readonly value: Buffer }>(
            `select key, value from "${schema}".oauth_records where version <> '' and starts_with(key, $1)`,
            [beginning],
          )
          return new Map(rows.map(({ key, value }) => [key, value.toString()]))
        },
      }
    },
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}

/** How each kind of database starts. */
export const databases = {
  Redis: openRedis,
  'a cluster': openCluster,
  SQLite: openFolder,
  PostgreSQL: openPostgres,
} satisfies Readonly<Record<string, () => Promise<Database>>>
export type DatabaseName = keyof typeof databases
const names = ['Redis', 'a cluster', 'SQLite', 'PostgreSQL'] as const

/** Declares a group of tests for these databases, in a long run for each; one starts before its tests and stops after them. */
export function describeOnDatabases(
  title: string,
  some: readonly DatabaseName[],
  tests: (place: () => Promise<SharedPlace>) => void,
): void {
  describe.each(extent(some, names))(`${title} %s`, (name) => {
    let database: Database
    beforeAll(async () => {
      database = await databases[name]()
    })
    afterAll(() => database.stop())
    tests(() => database.place())
  })
}
