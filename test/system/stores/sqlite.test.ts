import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeContract } from '../../../lib/testing/index'
import { installPackage } from '../../support/npm-packages'
import { sqliteProcess, type StoreProcess } from '../../support/stores/sqlite-process'

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

const shared = pair()
storeContract('sqliteStore() keeps the contract, over two processes', () => shared)

// Its binary of version 12, for Node 20, comes from another place than npm.
const betterSqlite = () => ({
  packages: join(installPackage('better-sqlite3@13.2.0'), 'node_modules'),
  flags: ['--no-experimental-sqlite'],
})

describe('sqliteStore() where Node has no SQLite', () => {
  const onPackage = pair(betterSqlite())
  storeContract('keeps the contract on better-sqlite3', () => onPackage)
})

test('sqliteStore() makes files that only their owner can read', async () => {
  const { path, store } = shared
  await store.read('any')
  const modes = ['', '-wal', '-shm'].map((end) => statSync(path + end).mode & 0o777)
  expect(modes).toEqual([0o600, 0o600, 0o600])
})
