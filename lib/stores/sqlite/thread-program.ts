export interface ThreadTerms {
  readonly path: string
  // `node:sqlite`, or the path of `better-sqlite3`.
  readonly module: string
  readonly patience: number
}

// Plain JavaScript in a text: no file of the package is sure to be there, in a bundle or under TypeScript. Replies to a
// list of acts once its transaction is on the disk.
export const threadProgram = String.raw`'use strict'
const { parentPort, workerData } = require('node:worker_threads')
const { statSync } = require('node:fs')
const { pathToFileURL } = require('node:url')
const { path, module: sqlite, patience } = workerData

const schemaVersion = 1
const schema =
  'create table records (key text primary key, version text not null, value text not null, ends integer) strict;' +
  'create index records_ends on records (ends) where ends is not null;' +
  'create index records_lasting on records (key) where ends is null;' +
  'create table counts (key text primary key, count integer not null, ends integer not null) strict, without rowid;' +
  'create index counts_ends on counts (ends);' +
  'pragma user_version = ' + schemaVersion

const statements = {
  find: 'select value, version from records where key = ? and (ends is null or ends > ?)',
  put: 'insert into records (key, version, value, ends) values (?, ?, ?, ?) on conflict (key) ' +
    'do update set version = excluded.version, value = excluded.value, ends = excluded.ends',
  lasting: "select key from records where ends is null and key >= ? and key < ?",
  count: 'select count, ends from counts where key = ? and ends > ?',
  putCount: 'insert into counts (key, count, ends) values (?, ?, ?) on conflict (key) ' +
    'do update set count = excluded.count, ends = excluded.ends',
  dropCount: 'delete from counts where key = ?',
  sweep: 'delete from records where rowid in (select rowid from records where ends <= ? limit ?)',
  sweepCounts: 'delete from counts where key in (select key from counts where ends <= ? limit ?)',
}

let database
let sql
let inodes
let closing = false

// Monotonic, and the same in every thread.
const elapsed = () => Number(process.hrtime.bigint() / 1000000n)
const pause = new Int32Array(new SharedArrayBuffer(4))

const failure = (name) => Object.assign(new Error(name), { code: 'SQLITE_' + name })
const names = { 5: 'BUSY', 8: 'READONLY', 10: 'IOERR', 11: 'CORRUPT', 13: 'FULL', 14: 'CANTOPEN', 26: 'NOTADB' }
// A message may quote what is stored: only a name leaves the thread.
function nameOf({ code, errcode, name }) {
  if (errcode !== undefined) return names[errcode & 255] ?? String(errcode)
  return /^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? code ?? name
}

// SQLite's pauses grow to 100 ms: a process without pauses would always be first.
function patiently(act) {
  for (const until = elapsed() + patience; ; Atomics.wait(pause, 0, 0, Math.random() * 2))
    try {
      return act()
    } catch (error) {
      if (nameOf(error) !== 'BUSY' || elapsed() > until) throw error
    }
}

// What SQLite writes to a file without a name is lost. The log comes first: what begins one has written the file
// before.
function inodesNow() {
  const [log, file] = [path + '-wal', path].map((each) => statSync(each, { throwIfNoEntry: false }))
  if (file === undefined) throw failure('GONE')
  if (file.size === 0 && (inodes !== undefined || log?.size > 0)) throw failure('TRUNCATED')
  return file.ino + ' ' + log?.ino
}

function requireDatabase() {
  const now = inodesNow()
  if (database === undefined) open()
  else if (now !== inodes) throw failure('GONE')
}

// SQLite would make a file that went away, and delete the log beside an empty one.
function connect() {
  const found = require(sqlite)
  if (found.DatabaseSync === undefined) return new found(path, { fileMustExist: true })
  const url = pathToFileURL(path)
  url.search = 'mode=rw'
  return new found.DatabaseSync(url)
}

function open() {
  try {
    database = connect()
    database.exec('pragma busy_timeout = 0')
    patiently(prepareTables)
    patiently(() => database.exec('pragma journal_mode = wal'))
    database.exec('pragma synchronous = full; pragma fullfsync = on')
    sql = Object.fromEntries(Object.entries(statements).map(([name, text]) => [name, database.prepare(text)]))
    patiently(() => sql.find.get('', 0))
    inodes = inodesNow()
  } catch (error) {
    close()
    inodesNow()
    throw error
  }
}

function prepareTables() {
  const version = () => database.prepare('pragma user_version').get().user_version
  if (version() > schemaVersion) throw failure('NEWER')
  if (version() === schemaVersion) return
  within(() => {
    if (version() === schemaVersion) return
    if (database.prepare('select 1 from sqlite_master').get() !== undefined) throw failure('FOREIGN')
    database.exec(schema)
  })
}

function close() {
  try {
    database?.close()
  } catch {}
  database = undefined
}

const verbs = {
  read({ key, now }) {
    const found = sql.find.get(key, now)
    return found === undefined || found.version === '' ? {} : { found }
  },
  write({ key, value, version, expected, ends, until, now }) {
    const found = sql.find.get(key, now)
    if (found?.version === version) return { stored: true }
    if (expected === undefined && found?.version === '') return { failure: 'REMOVED' }
    if (expected === undefined && elapsed() > until) return { failure: 'LATE' }
    if (found?.version !== expected || expected === '') return { stored: false }
    sql.put.run(key, version, value, ends)
    return { stored: true }
  },
  remove({ key, ends }) {
    sql.put.run(key, '', '', ends)
    return {}
  },
  add({ key, amount, ends, now }) {
    const found = sql.count.get(key, now) ?? { count: 0, ends }
    const count = found.count + amount
    if (count > 0) sql.putCount.run(key, count, found.ends)
    else sql.dropCount.run(key)
    return count > 0 ? { count, ends: found.ends } : { count: 0, ends: now }
  },
  list({ kind }) {
    return { keys: sql.lasting.all(kind + ':', kind + ';').map(({ key }) => key.slice(kind.length + 1)) }
  },
  close() {
    closing = true
    return {}
  },
}
const readOnly = ['read', 'list', 'close']

function within(act) {
  patiently(() => database.exec('begin immediate'))
  try {
    const result = act()
    database.exec('commit')
    return result
  } catch (error) {
    // SQLite may have rolled back by itself.
    try {
      database.exec('rollback')
    } catch {}
    throw error
  }
}

// What has ended goes in small bites.
function perform(acts, bite) {
  const repliesNow = () => acts.map((act) => verbs[act.verb](act))
  if (acts.every(({ verb }) => readOnly.includes(verb))) return patiently(repliesNow)
  return within(() => {
    const replies = repliesNow()
    const { now } = acts.at(-1)
    if (bite > 0) for (const each of [sql.sweep, sql.sweepCounts]) each.run(now, bite)
    return replies
  })
}

function alone(act) {
  try {
    requireDatabase()
    return perform([act], 0)[0]
  } catch (error) {
    const failure = nameOf(error)
    if (failure !== 'BUSY' && failure !== 'FULL') close()
    return { failure }
  }
}

// The log begins again once all of it is in the file: a removal finds room on a full disk.
function reclaimLog() {
  try {
    database.exec('pragma wal_checkpoint')
  } catch {}
}

function replyTo(acts) {
  try {
    requireDatabase()
    return perform(acts, 2 * acts.length + 8)
  } catch (error) {
    if (nameOf(error) === 'BUSY') return acts.map(() => ({ failure: 'BUSY' }))
    if (nameOf(error) === 'FULL') reclaimLog()
    return acts.map(alone)
  }
}

parentPort.on('message', (acts) => {
  const replies = replyTo(acts)
  if (closing) close()
  parentPort.postMessage(replies)
  if (closing) parentPort.close()
})
`
