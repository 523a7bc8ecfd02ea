import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Store } from '../../../lib/index'
import { sqliteStore } from '../../../lib/paths/sqlite'
import { storeContract } from '../../../lib/paths/testing'
import { requireNode } from '../../support/nodes'
import { installPackage } from '../../support/npm-packages'
import { requireProgram, straceProgram } from '../../support/program'
import { mounted, sqliteProcess, type StoreProcess } from '../../support/stores/sqlite-process'

const folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
const processes: StoreProcess[] = []
afterAll(async () => {
  await Promise.all(processes.map((each) => each.kill()))
  rmSync(folder, { recursive: true })
})

let count = 0
const freshPath = () => join(folder, `${count++}.db`)

function start(...words: Parameters<typeof sqliteProcess>): StoreProcess {
  const store = sqliteProcess(...words)
  processes.push(store)
  return store
}

/** Two processes on one file. */
function pair(surroundings?: Parameters<typeof sqliteProcess>[1]) {
  const path = freshPath()
  const [store, other] = [start(path, surroundings), start(path, surroundings)]
  const advance = async (seconds: number) => {
    await Promise.all([store.advance(seconds), other.advance(seconds)])
  }
  return { path, store, other, advance }
}

const versionOf = (label: string | number) => `${label}`.padEnd(22, '-')
const secret = 'swordfish'
const create = (store: Store, key: string, size = 10) =>
  store.write(key, JSON.stringify(secret.padEnd(size)), { version: versionOf('1') })
const range = (length: number) => Array.from({ length }, (_, index) => index)

/** What became of a call: what it resolved to, or the error. */
const outcome = (call: Promise<unknown>) => call.catch((error: unknown) => String(error))

const databaseScript = `const { DatabaseSync } = require('node:sqlite')
const [, path, text] = process.argv
const database = new DatabaseSync(path)
`
/** Runs SQL of another program. */
function sql(path: string, text: string): unknown {
  const script = `${databaseScript}console.log(JSON.stringify(database.prepare(text).all()))`
  const { stdout, stderr } = spawnSync(requireNode(24), ['--no-warnings', '-e', script, path, text], {
    encoding: 'utf8',
  })
  return JSON.parse(stdout || JSON.stringify(stderr))
}

/** Another program has the lock of the database, for these milliseconds. */
async function lock(path: string, milliseconds: number) {
  const script = `${databaseScript}database.exec('begin immediate')
console.log('locked')
setTimeout(() => database.exec('commit'), Number(text))`
  const child = spawn(requireNode(24), ['--no-warnings', '-e', script, path, String(milliseconds)])
  await once(child.stdout, 'data')
}

const twoProcesses = pair()
storeContract('sqliteStore() keeps the contract, over two processes', () => twoProcesses)

// Its version 12, for Node 20, has its binary from elsewhere than npm.
const withoutSqlite = { flags: ['--no-experimental-sqlite'] }
const onPackage = pair({
  ...withoutSqlite,
  packages: join(installPackage('better-sqlite3@13.2.0'), 'node_modules'),
})
storeContract('sqliteStore() keeps the contract on better-sqlite3', () => onPackage)

describe('of two processes with 64 calls each at once', () => {
  const { store, other } = pair()
  const atOnce = <Result>(call: (each: Store, index: number) => Promise<Result>) =>
    Promise.all(range(128).map((index) => call(index % 2 === 0 ? store : other, index)))

  test('one creates a record, and one replaces it', async () => {
    const write = (expected?: string) =>
      atOnce((each, index) =>
        each.write('document:1', '1', { version: versionOf(`${index} ${expected}`), expected }),
      )
    for (let expected: string | undefined, round = 0; round < 5; round++) {
      const stored = await write(expected)
      expect(stored.filter(Boolean).length).toBe(1)
      expected = versionOf(`${stored.indexOf(true)} ${expected}`)
      expect((await other.read('document:1'))?.version).toBe(expected)
    }
  })

  test('each addition has a count of its own', async () => {
    const added = await atOnce((each) => each.add('count:1', 1, 60))
    expect(added.map((each) => each.count).toSorted((a, b) => a - b)).toEqual(
      range(128).map((index) => index + 1),
    )
  })
})

test('what a store has resolved is in the file after kill -9 at any moment', async () => {
  const path = freshPath()
  for (const round of range(8)) {
    const store = start(path)
    const keys = range(200).map((index) => `authorization:${round}:${index}`)
    const [created, removed] = [new Set<string>(), new Set<string>()]
    const writing = keys.map(async (key, index) => {
      await create(store, key)
      created.add(key)
      if (index % 2 === 1) return
      await store.remove(key)
      removed.add(key)
    })
    await outcome(Promise.race(writing))
    await setTimeout(Math.random() * 30)
    await store.kill()
    await Promise.allSettled(writing)
    const next = start(path)
    const found = await Promise.all(keys.map((key) => next.read(key)))
    const isThere = (key: string) => found[keys.indexOf(key)] !== undefined
    expect(created.size).toBeGreaterThan(0)
    expect([...removed].filter(isThere)).toEqual([])
    expect(keys.filter((key, index) => index % 2 === 1 && created.has(key) && !isThere(key))).toEqual([])
    await next.kill()
  }
})

test('what a store has resolved is flushed to the disk', async () => {
  const trace = join(folder, 'trace')
  const within = [requireProgram(straceProgram), '-f', '-o', trace, '-e', 'trace=fsync,fdatasync']
  const store = start(freshPath(), { within })
  await create(store, 'document:0')
  const flushes = () => readFileSync(trace, 'utf8').split('sync(').length
  const before = flushes()
  for (const index of range(10)) await store.remove(`authorization:${index}`)
  expect(flushes() - before).toBeGreaterThanOrEqual(10)
  await store.detach()
  await store.ended()
})

describe('a create whose caller no longer waits', () => {
  test('is void, although the lock comes free', async () => {
    const { path, store, other } = pair()
    await store.read('any')
    await lock(path, 3500)
    const first = outcome(create(store, 'authorization:1'))
    await setTimeout(100)
    const second = outcome(create(store, 'authorization:2'))
    expect(await first).toContain('Another process held the lock')
    expect(await second).toContain('its turn came too late')
    expect(await other.read('authorization:1')).toBeUndefined()
    expect(await other.read('authorization:2')).toBeUndefined()
  })
})

test('a read does not wait for the lock of another process, and a removal gets it when it comes free', async () => {
  const { path, store } = pair()
  await create(store, 'authorization:1')
  await store.read('authorization:1')
  await lock(path, 1500)
  let isRemoved = false
  const removal = store.remove('authorization:1').then(() => (isRemoved = true))
  expect(await store.read('authorization:1')).toBeDefined()
  expect(isRemoved).toBe(false)
  await removal
  expect(await store.read('authorization:1')).toBeUndefined()
})

describe('on a full disk', () => {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  const full = (store: StoreProcess) => `/proc/${store.pid}/root${disk}/ballast`
  const open = () => {
    const mounting = `mount -t tmpfs -o size=1m tmpfs ${disk} && head -c 400k /dev/zero > ${disk}/ballast`
    return start(join(disk, 'a.db'), { within: mounted(mounting) })
  }

  test('a write is refused without what it writes, small ones beside it are not, and writes go on where there is room', async () => {
    const store = open()
    await create(store, 'authorization:1')
    const large = range(3).map((index) => outcome(create(store, `document:${index}`, 600_000)))
    const small = range(3).map((index) => outcome(create(store, `use:${index}`)))
    for (const each of await Promise.all(large)) {
      expect(each).toContain('The disk is full')
      expect(each).not.toContain(secret)
    }
    expect(await Promise.all(small)).toEqual([true, true, true])

    let last: unknown = true
    for (let index = 0; last === true; index++) last = await outcome(create(store, `document:${index}`, 3000))
    expect(last).toContain('The disk is full')
    expect(await store.read('authorization:1')).toBeDefined()

    rmSync(full(store))
    expect(await create(store, 'document:last', 3000)).toBe(true)
  })

  test('records are replaced and removed, as long as the file need not grow', async () => {
    const store = open()
    await create(store, 'document:0')
    for (const index of range(250)) {
      const terms = { version: versionOf(index), expected: versionOf(index === 0 ? '1' : index - 1) }
      expect(await store.write('document:0', '1', terms)).toBe(true)
    }
    await store.remove('document:0')
  })
})

describe('a file that is not as it was', () => {
  const opened = async () => {
    const { path, store, other } = pair()
    await Promise.all(range(200).map((index) => create(store, `document:${index}`, 2000)))
    // All that was written goes from the log to the file.
    await store.close?.()
    for (const each of [store, other]) {
      await create(each, 'document:1')
      await each.read('document:1')
    }
    return { path, store, other }
  }
  const bothOf = async (store: Store) => [
    await outcome(store.read('document:1')),
    await outcome(store.remove('document:1')),
  ]
  const both = (reason: string) => [expect.stringContaining(reason), expect.stringContaining(reason)]

  test('is refused while it is away, and nothing is lost once it is back', async () => {
    const { path, store, other } = await opened()
    renameSync(path, `${path}.away`)
    for (const each of [store, store, other])
      expect(await bothOf(each)).toEqual(both('was deleted or replaced'))
    renameSync(`${path}.away`, path)
    expect(await store.read('document:199')).toBeDefined()
    await store.remove('document:1')
    expect(await other.read('document:1')).toBeUndefined()
  })

  test('is refused, and nothing is lost, if it goes away just before it is opened', async () => {
    const { path, store } = await opened()
    const late = ['-P', path, '-e', 'trace=openat', '-e', 'inject=openat:delay_enter=1s']
    const opening = start(path, { within: [requireProgram(straceProgram), '-f', '-o', '/dev/null', ...late] })
    await opening.advance(0)
    const reading = outcome(opening.read('document:1'))
    await setTimeout(500)
    renameSync(path, `${path}.away`)
    const found = await reading
    renameSync(`${path}.away`, path)
    await opening.detach()
    await opening.ended()
    expect(found).toContain('was deleted or replaced')
    for (const key of ['document:1', 'document:199']) expect(await store.read(key)).toBeDefined()
  })

  test('is refused without its log', async () => {
    const { path, store } = await opened()
    rmSync(`${path}-wal`)
    expect(await bothOf(store)).toEqual(both('was deleted or replaced'))
  })

  test.each([
    [0, 'was truncated'],
    [50_000, 'The file is damaged'],
  ])('is refused after it was truncated to %d bytes', async (size, reason) => {
    const { path, store } = await opened()
    truncateSync(path, size)
    expect(await bothOf(store)).toEqual(both(reason))
  })

  test('is not made anew beside the log of one that is away', async () => {
    const { path, store } = await opened()
    renameSync(path, `${path}.away`)
    const another = start(path)
    expect(await outcome(another.read('document:1'))).toContain('put the file back, or remove')
    renameSync(`${path}.away`, path)
    expect(await store.read('document:1')).toBeDefined()
  })

  test.each([
    ['of a newer version', 'pragma user_version = 2', 'A newer version'],
    ['of another program', 'create table photos (name)', 'another program'],
  ])('is refused if it is %s', async (_what, text, reason) => {
    const path = freshPath()
    sql(path, text)
    expect(await bothOf(start(path))).toEqual(both(reason))
  })

  test('is refused if it is no database', async () => {
    const path = freshPath()
    writeFileSync(path, 'A letter. '.repeat(1000))
    expect(await bothOf(start(path))).toEqual(both('no SQLite database'))
  })

  test('is refused with the cure where the disk is read-only', async () => {
    const path = join(mkdtempSync(join(folder, 'read-only-')), 'a.db')
    const before = start(path)
    await create(before, 'document:1')
    await before.close?.()
    const mounting = `mount --bind ${join(path, '..')} ${join(path, '..')} && mount -o remount,bind,ro ${join(path, '..')}`
    expect(await outcome(start(path, { within: mounted(mounting) }).remove('document:1'))).toMatch(
      /cannot be (?:opened|written)/,
    )
  })
})

test('a thread that ends rejects its calls, and the next call has another', async () => {
  const store = start(freshPath())
  await store.crash()
  expect(await outcome(create(store, 'document:1'))).toContain('The thread of the database ended')
  expect(await create(store, 'document:1')).toBe(true)
})

test('calls that follow each other leave turns of the event loop to requests', async () => {
  const store = start(freshPath())
  await store.read('any')
  expect(await store.turns(100)).toBeGreaterThanOrEqual(100)
})

test('a store keeps no process alive, and Node warns of nothing', async () => {
  const store = start(freshPath(), { version: 22 })
  await create(store, 'document:1')
  await store.read('document:1')
  await store.detach()
  expect(await store.ended()).toBe('')
})

test('a store that is closed leaves one file, which only its owner can read', async () => {
  const { path, store, other } = pair()
  await Promise.all([create(store, 'document:1'), other.read('document:1')])
  for (const end of ['', '-wal', '-shm']) expect(statSync(path + end).mode & 0o777).toBe(0o600)
  await store.close?.()
  await other.close?.()
  expect(['-wal', '-shm'].filter((end) => existsSync(path + end))).toEqual([])
})

test('check warns of a file that every user can open', async () => {
  const { path, store } = pair()
  expect(await store.check?.('https://login.example')).toEqual([])
  chmodSync(path, 0o644)
  expect(await store.check?.('https://login.example')).toEqual([
    { code: 'EAS_SQLITE_MODE', message: expect.stringContaining('Run chmod o= on it') },
  ])
})

test('check rejects as the store does', async () => {
  const path = freshPath()
  writeFileSync(path, 'A letter. '.repeat(1000))
  expect(await outcome(start(path).check?.('https://login.example') ?? Promise.resolve())).toContain(
    'no SQLite database',
  )
})

test('what has ended leaves the file with the writes that come after', async () => {
  const { path, store } = pair()
  const ending = { version: versionOf(1), seconds: 60 }
  await Promise.all(range(100).map((index) => store.write(`document:${index}`, '1', ending)))
  await Promise.all(range(100).map((index) => store.add(`count:${index}`, 1, 60)))
  await create(store, 'client:1')
  await store.advance(61)
  for (const index of range(20)) await store.remove(`use:${index}`)
  expect(
    sql(
      path,
      `select (select count(*) from records) - 21 as records, (select count(*) from counts) as counts`,
    ),
  ).toEqual([{ records: 0, counts: 0 }])
})

describe('sqliteStore() says what is wrong, and how to mend it:', () => {
  test.each([
    ['without a path', {}, 'path is missing: it must be the path of a file, such as ./oauth.db.'],
    ['with a path in memory', { path: ':memory:' }, 'path must be the path of a file, such as ./oauth.db.'],
    [
      'with a clock of seconds',
      { path: 'a.db', clock: () => Date.now() / 1000 },
      'clock must return milliseconds',
    ],
    ['with an option of another store', { path: 'a.db', url: 'redis://localhost' }, 'url is not known here'],
  ])('%s', (_what, options, message) => {
    expect(() => Reflect.apply(sqliteStore, undefined, [options])).toThrow(message)
  })

  test('where its folder is not there', async () => {
    expect(await start(join(folder, 'none/a.db')).ended()).toContain(
      'none/a.db, which cannot be made: its folder must exist',
    )
  })

  test('where neither Node nor a package has SQLite', async () => {
    expect(await start(freshPath(), withoutSqlite).ended()).toContain(
      'better-sqlite3 is not installed: run Node 22.15 or later, or "npm install better-sqlite3@12".',
    )
  })
})
