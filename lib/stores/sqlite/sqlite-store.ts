import { closeSync, existsSync, openSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import { stat } from 'node:fs/promises'
import { ConfigurationError, refuseLoading } from '../../primitives/configuration-error'
import { aClock } from '../../primitives/fields'
import { type Fields, kind, needed, readOptions } from '../../primitives/schema'
import { isRecord, isText } from '../../primitives/values'
import { warningsOf } from '../../store/database-clock'
import { markSeconds, type Store } from '../../store/store'
import { DatabaseThread, elapsed, patience } from './database-thread'

export interface SqliteStoreOptions {
  /**
   * The file, such as `/var/lib/shop/oauth.db`, on a disk of this machine. The store makes it, readable by its owner
   * alone, in a folder that exists.
   */
  readonly path: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

const fields = {
  path: needed(
    '',
    kind(
      (value): value is string => isText(value) && value !== ':memory:',
      'must be the path of a file, such as ./oauth.db.',
    ),
  ),
  clock: aClock,
} satisfies Fields<SqliteStoreOptions>

/**
 * Stores everything in a file of SQLite, for the processes of one machine. A write is on the disk when it resolves.
 * Needs Node 22.15 or later, or the package `better-sqlite3`.
 *
 * @throws ConfigurationError if an option is wrong, if the file cannot be made, or without SQLite.
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const read = readOptions('sqliteStore()', fields, options)
  const path = resolve(read.path)
  const { clock } = read
  const terms = { path, module: findSqlite(), patience }
  create(path)
  const [reads, writes] = [new DatabaseThread(terms), new DatabaseThread(terms)]
  return {
    place: `SQLite at ${path}`,
    async read(key) {
      return (await reads.call({ verb: 'read', key, now: clock() })).found
    },
    async write(key, value, { version, expected, seconds }) {
      const now = clock()
      const ends = seconds === undefined ? null : after(now, seconds)
      const until = elapsed() + patience
      const { stored } = await writes.call({ verb: 'write', key, value, version, expected, ends, until, now })
      return stored === true
    },
    async remove(key) {
      const now = clock()
      await writes.call({ verb: 'remove', key, ends: after(now, markSeconds), now })
    },
    async add(key, amount, seconds) {
      const now = clock()
      const reply = await writes.call({ verb: 'add', key, amount, ends: after(now, seconds), now })
      const { count = 0, ends = now } = reply
      return { count, secondsLeft: Math.ceil((ends - now) / 1000) }
    },
    async list(kindOfKeys) {
      return (await reads.call({ verb: 'list', kind: kindOfKeys })).keys ?? []
    },
    async check() {
      // The first call of a connection opens it.
      await Promise.all([reads, writes].map((each) => each.call({ verb: 'read', key: '', now: clock() })))
      const isOpen = process.platform !== 'win32' && ((await stat(path)).mode & 0o007) !== 0
      const message = `Every user of this machine can open ${path}. Run chmod o= on it, and beside it.`
      return warningsOf([isOpen, 'EAS_SQLITE_MODE', message])
    },
    // The last connection removes the log: of two that close at once, none is the last one.
    async close() {
      await reads.close()
      await writes.close()
    },
  }
}

const after = (now: number, seconds: number): number => Math.ceil(now + seconds * 1000)

// SQLite gives the files beside it the mode of this one.
function create(path: string): void {
  // SQLite would delete the log beside a new file, and all that stands in it alone.
  if (existsSync(`${path}-wal`) && !existsSync(path))
    refuse(
      `is ${path}, which is gone, although its log is there: put the file back, or remove ${path}-wal, too.`,
    )
  try {
    // To close a file that exists would end the locks that this process has on it.
    closeSync(openSync(path, 'wx', 0o600))
  } catch (cause) {
    if (isExisting(cause)) return
    refuse(
      `is ${path}, which cannot be made: its folder must exist, and this process needs the right to write there.`,
      cause,
    )
  }
}

function refuse(message: string, cause?: unknown): never {
  throw new ConfigurationError('sqliteStore() cannot open its file:', [{ path: 'path', message }], { cause })
}

const isExisting = (error: unknown): boolean => isRecord(error) && error['code'] === 'EEXIST'

// Without a URL, it makes a file that is missing.
const takesUrls = !/^(?:22\.1[34]|23\.[4-9])\./.test(process.versions.node)

function findSqlite(): string {
  if (isBuiltin('node:sqlite') && takesUrls) return 'node:sqlite'
  try {
    // By its path: a bundle cannot hold its binary.
    return createRequire(__filename).resolve('better-sqlite3')
  } catch (cause) {
    const subject = 'sqliteStore() needs SQLite, which this version of Node has not:'
    const cure = 'run Node 22.15 or later, or "npm install better-sqlite3@12"'
    return refuseLoading(cause, 'better-sqlite3', subject, cure)
  }
}
