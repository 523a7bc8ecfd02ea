// What a verb of `sqliteStore()` costs among many authorizations, and for how long it holds the thread of the requests:
// `npm run sqlite`, also with a number of records behind it (default: a million). Needs Node 24.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeAuthorization } from 'express-authorization-server'
import { type Store, sqliteStore } from 'express-authorization-server/sqlite'
import { record } from './record'

const records = Number(process.argv[2] ?? 1_000_000)
// Other programs lengthen turns, so what counts is the longest turn of a short round that they left alone.
const rounds = 50
const calls = Math.min(20_000, records / 20)

const value = encodeAuthorization(record)
const seconds = 3600
const versionOf = (label: string) => label.padEnd(22, '-')
// Computed, so that the heap of this program stays small.
const keyOf = (index: number) =>
  `authorization:${createHash('sha256').update(`${index}`).digest('base64url').slice(0, 22)}`
const anyIndex = () => Math.floor(Math.random() * records)
let created = records

async function write(store: Store, index: number, version: string, expected?: string): Promise<void> {
  const terms = { version: versionOf(version), expected: expected && versionOf(expected), seconds }
  if (!(await store.write(keyOf(index), value, terms))) throw new Error('The store refused a write.')
}

const verbs: Readonly<Record<string, (store: Store, index: number) => Promise<unknown>>> = {
  none: () => new Promise(setImmediate),
  read: (store) => store.read(keyOf(anyIndex())),
  'write that creates': (store) => write(store, created++, 'first'),
  'write that replaces': (store, index) => write(store, index, 'second', 'first'),
  add: (store) => store.add(`count:${Math.floor(Math.random() * 1000)}`, 1, 60),
  remove: (store, index) => store.remove(keyOf(records - 1 - index)),
}

/** Microseconds that this thread has worked. */
function worked(): number {
  const read: unknown = Reflect.get(process, 'threadCpuUsage')
  if (typeof read !== 'function') throw new Error('process.threadCpuUsage is missing: run this on Node 24.')
  const { user, system } = Reflect.apply(read, process, [])
  return user + system
}

/** Each of so many callers makes its calls one after the other. */
async function inTurns(
  callers: number,
  total: number,
  call: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < total) await call(next++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

/** The longest turn of the event loop, in microseconds, until it is told to stop. */
function watchTurns(): () => number {
  // The first turn is that of the callers.
  let [before, longest, isOver] = [Infinity, 0, false]
  const look = () => {
    const now = performance.now()
    longest = Math.max(longest, now - before)
    if (!isOver) setImmediate(look)
    before = performance.now()
  }
  setImmediate(look)
  return () => {
    isOver = true
    return longest * 1000
  }
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
const rounded = (number: number) => number.toFixed(number < 10 ? 1 : 0)

async function measure(store: Store, verb: string, callers: number, first: number): Promise<void> {
  const perform = verbs[verb]
  if (perform === undefined) return
  const total = callers === 1 ? calls / 20 : calls
  const times: number[] = []
  const [process0, thread0, start] = [process.cpuUsage(), worked(), performance.now()]
  await inTurns(callers, total, async (index) => {
    const from = performance.now()
    await perform(store, first + index)
    times.push(performance.now() - from)
  })
  const { user, system } = process.cpuUsage(process0)
  const [main, rate] = [worked() - thread0, total / (performance.now() - start)]
  times.sort((a, b) => a - b)
  const longest: number[] = []
  const part = 2 * callers
  for (let round = 0; round < rounds; round++) {
    const turns = watchTurns()
    await inTurns(callers, part, (index) => perform(store, first + total + round * part + index))
    longest.push(turns())
  }
  const cells = [
    (user + system) / total,
    main / total,
    at(times, 0.5),
    at(times, 0.99),
    rate * 1000,
    Math.min(...longest),
  ]
  console.log(`| ${verb} | ${callers} | ${cells.map(rounded).join(' | ')} |`)
}

async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-bench-'))
  const path = join(folder, 'oauth.db')
  try {
    const store = sqliteStore({ path })
    const start = performance.now()
    await inTurns(200, records, (index) => write(store, index, 'first'))
    const rate = records / (performance.now() - start)
    await store.close?.()
    console.log(
      `${records} authorizations of ${value.length} bytes: ${rounded(statSync(path).size / records)} bytes of the file for each, ${rounded(rate * 1000)} a second.`,
    )
    console.log(
      '| verb | at once | CPU µs | of it main | median ms | 99 % ms | a second | longest turn of the event loop, µs |',
    )
    for (const verb of Object.keys(verbs)) {
      await measure(store, verb, 1, 0)
      await measure(store, verb, 64, calls)
    }
    await store.close?.()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

void run()
