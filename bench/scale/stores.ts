// What the verbs of a store cost among many authorizations, and for how long they hold the event loop:
// `node --expose-gc --single-threaded-gc -r esbuild-register bench/scale/stores.ts memory|sqlite|redis|postgres [records …]`.
// Needs Node 24 and Linux. Helpers of the garbage collector that wait for a core would hold the event loop.
import type { Store } from 'express-authorization-server'
import { setTimeout as pause } from 'node:timers/promises'
import { longestHold, turn } from './held'
import { type Filled, keyOf, places, value, versionOf } from './stores-filled'
import { table } from '../table'
import { figure, whole } from './table'

const [name = '', ...wanted] = process.argv.slice(2)
const sizes = wanted.length === 0 ? [1000, 100_000, 1_000_000] : wanted.map(Number)
const ways = [
  { callers: 1, calls: 200, slice: 10 },
  { callers: 16, calls: 1600, slice: 80 },
]
// Single turns are long without a store, too, on a busy machine: so the median of rounds counts, which is no bound.
const rounds = 15
const [lasting, ending] = [36_000, 100_000]
const versions = new Map<number, number>()
// Beyond those that were filled in.
let [created, removed] = [2_000_000, 2_000_000]
const random = (below: number) => Math.floor(Math.random() * below)

async function write(store: Store, index: number): Promise<void> {
  const found = versions.get(index) ?? (index < 2_000_000 ? 0 : -1)
  versions.set(index, found + 1)
  const expected = found < 0 ? undefined : versionOf(found)
  const terms = { version: versionOf(found + 1), expected, seconds: lasting }
  if (!(await store.write(keyOf('authorization', index), value, terms)))
    throw new Error('The store refused a write.')
}

const verbs: Readonly<Record<string, (store: Store, index: number, records: number) => Promise<unknown>>> = {
  nothing: async () => {},
  read: (store, _index, records) => store.read(keyOf('authorization', random(records))),
  replace: (store, index, records) => write(store, index % records),
  create: (store) => write(store, created++),
  remove: (store) => store.remove(keyOf('authorization', removed++)),
  add: (store) => store.add(`count:${random(1000)}`, 1, 60),
}

/** Each caller makes its calls one after the other, one in a turn of the event loop. */
async function inTurns(
  callers: number,
  calls: number,
  call: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < calls) {
      await call(next++)
      await turn()
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

const at = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)] ?? Number.NaN

async function measure(store: Store, records: number): Promise<readonly string[][]> {
  const rows: string[][] = []
  for (const { callers, calls, slice } of ways) {
    for (const [verb, perform] of Object.entries(verbs)) {
      const [wall, cpu]: [number[], number[]] = [[], []]
      let used = process.cpuUsage()
      await inTurns(callers, calls, async (index) => {
        const start = performance.now()
        await perform(store, index, records)
        if (wall.push((performance.now() - start) * 1000) % slice > 0) return
        const { user, system } = process.cpuUsage(used)
        used = process.cpuUsage()
        cpu.push((user + system) / slice)
      })
      const held: number[] = []
      while (held.length < rounds)
        held.push(
          await longestHold(() => inTurns(callers, 4 * callers, (index) => perform(store, index, records))),
        )
      const figures = [at(wall, 0.5), at(wall, 0.99), at(cpu, 0.5), at(cpu, 0.99), 1000 * at(held, 0.5)]
      rows.push([whole(records), verb, String(callers), ...figures.map(figure)])
    }
  }
  return rows
}

async function opening(place: Filled, before: Store | undefined): Promise<Store> {
  const [wall, held]: [number[], number[]] = [[], []]
  let store = before
  while (wall.length < 7) {
    await store?.close?.()
    const opened = place.open()
    store = opened
    const start = performance.now()
    held.push(await longestHold(() => opened.read(keyOf('authorization', 0))))
    wall.push(performance.now() - start)
  }
  if (store === undefined) throw new Error('The store did not open.')
  console.log(`opened in ${figure(at(wall, 0.5))} ms, held ${figure(at(held, 0.5))} ms`)
  return store
}

/** Of records that end while the store serves about 800 calls a second, half of them writes. */
async function expiry(place: Filled, store: Store, records: number): Promise<void> {
  const lifetime = 20
  await place.fill('document', 0, ending, lifetime)
  const end = performance.now() + lifetime * 1000
  const held: number[] = []
  let [calls, index] = [0, 0]
  const serve = async () => {
    const until = performance.now() + 1000
    const caller = async () => {
      while (performance.now() < until) {
        const verb = index++ % 2 === 0 ? 'read' : 'replace'
        await verbs[verb]?.(store, index, records)
        if (performance.now() > end) calls++
        await pause(20)
      }
    }
    await Promise.all(Array.from({ length: 16 }, caller))
  }
  let left = ending
  while (left > 0 && performance.now() < end + 300_000) {
    held.push(await longestHold(serve))
    left = await place.count('document')
  }
  const after = (performance.now() - end) / 1000
  console.log(`expiry: ${left} of ${ending} left ${figure(after)} s and ${calls} calls after their end`)
  console.log(`expiry held ${figure(at(held, 0.5))} ms in a second, at most ${figure(at(held, 1))} ms`)
}

async function main(): Promise<void> {
  const place = await places[name]?.()
  if (place === undefined) throw new Error(`Name one of ${Object.keys(places).join(', ')}.`)
  const empty = await place.bytes()
  let store: Store | undefined
  let filled = 0
  try {
    for (const records of sizes) {
      for (; filled < records; filled = Math.min(filled + 50_000, records))
        await place.fill('authorization', filled, Math.min(filled + 50_000, records), lasting)
      console.log(`\n${name}, ${whole(records)} records of ${value.length} bytes, Node ${process.version}`)
      console.log(`${figure(((await place.bytes()) - empty) / records)} bytes a record`)
      store = await opening(place, store)
      const columns = ['records', 'verb', 'at once', 'µs', '99 %', 'CPU µs', '99 %', 'held µs']
      console.log(table(columns, await measure(store, records)))
    }
    if (store !== undefined) await expiry(place, store, filled)
  } finally {
    await store?.close?.()
    await place.stop()
  }
}

void main()
