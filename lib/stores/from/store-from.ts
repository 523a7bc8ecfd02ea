import { sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ConfigurationError } from '../../primitives/configuration-error'
import { memoryStore } from '../../store/memory-store'
import type { Store } from '../../store/store'
import { loadPg } from '../postgres/pool'
import { postgresStore } from '../postgres/postgres-store'
import type { PostgresTables } from '../postgres/statements'
import { redisStore } from '../redis/redis-store'
import { sqliteStore } from '../sqlite/sqlite-store'

/**
 * The store that the variable `STORE_URL` names, for the option `store`:
 *
 * - absent or empty: `memoryStore()`, which refuses production
 * - `file:./oauth.db` or `file:///var/lib/shop/oauth.db`: `sqliteStore()`
 * - `redis://localhost:6379` or `rediss://…`: `redisStore()`; `?prefix=shop:` gives it a prefix
 * - `postgres://localhost/shop` or `postgresql://…`: `postgresStore()` on ten connections of its own;
 *   `?schema=oauth&table=records` names its tables
 *
 * @param environment such as `process.env`.
 * @throws ConfigurationError if the variable names something else, or the store cannot work.
 */
export const storeFrom = (environment: Readonly<Record<string, string | undefined>>): Store =>
  namedStore(environment[storeVariable]).open()

// Milliseconds, as for Redis.
const timeouts = { connectionTimeoutMillis: 2000, query_timeout: 2000 }

function storeAt(connectionString: string, tables: PostgresTables): Store {
  const { Pool } = loadPg(
    `storeFrom() cannot connect to the PostgreSQL of ${storeVariable}:`,
    'run "npm install pg"',
  )
  const pool = new Pool({ connectionString, ...timeouts })
  // Without a listener, an idle connection that breaks ends the process.
  pool.on('error', () => {})
  let end: Promise<void> | undefined
  return Object.assign(postgresStore({ pool, ...tables }), { close: () => (end ??= pool.end()) })
}

export const storeVariable = 'STORE_URL'

interface NamedStore {
  open(): Store
  readonly postgres?: { readonly url: string; readonly tables: PostgresTables }
}

const readers: ReadonlyMap<string, (text: string) => NamedStore> = new Map([
  ['file:', fileIn],
  ['redis://', redisIn],
  ['rediss://', redisIn],
  ['postgres://', postgresIn],
  ['postgresql://', postgresIn],
])

// Holds no password.
export function mistakeInUrl(text: string): string | undefined {
  try {
    namedStore(text)
    return undefined
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues[0]?.message
    throw error
  }
}

// Its error holds no password.
export function namedStore(text = ''): NamedStore {
  if (text === '') return { open: () => memoryStore() }
  const begin = /^(?:file:|[a-z][a-z\d+.-]*:\/\/)/i.exec(text)?.[0]
  const read = readers.get(begin?.toLowerCase() ?? '')
  if (read !== undefined) return read(text)
  // What has no scheme may be a password.
  const given = begin === undefined ? 'is no URL' : `begins with ${begin}`
  const names = [...readers.keys()].slice(1).join(', ')
  throw wrong(`${given}: give it a URL that begins with ${names}, or a file such as file:./oauth.db.`)
}

function fileIn(text: string): NamedStore {
  try {
    const url = new URL(text, pathToFileURL(process.cwd() + sep))
    const path = fileURLToPath(url)
    if (url.search + url.hash === '' && !path.endsWith(sep)) return { open: () => sqliteStore({ path }) }
  } catch {
    // A host, or characters that no path has.
  }
  throw wrong(
    'names no file of this machine: give it a path such as file:./oauth.db or file:///var/lib/shop/oauth.db, with %23 for # and %3F for ?.',
  )
}

function redisIn(text: string): NamedStore {
  const { url, options } = partsOf(text, ['prefix'])
  return { open: () => redisStore({ url, ...options }) }
}

function postgresIn(text: string): NamedStore {
  // pg takes a URL without a host, such as postgres://ada:secret@/shop?host=/run/postgresql.
  const { url, options: tables } = partsOf(text, ['schema', 'table'], text.replace('@/', '@localhost/'))
  return { open: () => storeAt(url, tables), postgres: { url, tables } }
}

// Drivers have options of theirs in the query. `whole` must be a URL.
function partsOf<Name extends string>(text: string, names: readonly Name[], whole = text) {
  if (!URL.canParse(whole))
    throw wrong('cannot be read as a URL: a password needs %23 for #, %2F for /, %3F for ? and %40 for @.')
  const [address = '', ...rest] = text.split('?')
  const query = new URLSearchParams(rest.join('?'))
  const options: { [Each in Name]?: string } = {}
  for (const name of names) {
    const given = query.get(name)
    if (given !== null) options[name] = given
    query.delete(name)
  }
  return { url: query.size === 0 ? address : `${address}?${query.toString()}`, options }
}

const wrong = (message: string) =>
  new ConfigurationError('storeFrom() finds no store; without STORE_URL, it is in memory:', [
    { path: storeVariable, message },
  ])
