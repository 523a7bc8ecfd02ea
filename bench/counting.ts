import { createHook } from 'node:async_hooks'
import { GCProfiler, getHeapStatistics } from 'node:v8'
import { atPart, median } from './figures'

/** What one operation makes, its part of the generator included. */
export interface Counts {
  /** Each `await` counts as one more. */
  readonly promises: number
  readonly timers: number
  /** Of heap, with all that a collection would free. */
  readonly kibibytes: number
}

type Operation = () => Promise<void>

const warmUp = 2000
const operations = 300
/** The least counts: on a busy machine, V8 may compile during one of them. */
const rounds = 3
/** Operations take turns in as many chains: a chain of refreshes would fill its record with tokens. */
const chains = 100

/** Counts in the row that `prepare` begins. The process needs a young generation that holds it all. */
export async function countsOf(prepare: () => Promise<Operation>): Promise<Counts> {
  const turns = await turnsOf(prepare)
  for (let turn = 0; turn < warmUp; turn += 1) await turns()
  const heaps: number[] = []
  for (let round = 0; round < rounds; round += 1) heaps.push(await heapOf(await turnsOf(prepare)))
  // Later, because a hook changes what V8 does with promises.
  return { ...(await objectsOf(await turnsOf(prepare))), kibibytes: Math.min(...heaps) }
}

async function turnsOf(prepare: () => Promise<Operation>): Promise<Operation> {
  const prepared: Operation[] = []
  for (let chain = 0; chain < chains; chain += 1) prepared.push(await prepare())
  let turn = 0
  return () => prepared[turn++ % chains]?.() ?? Promise.resolve()
}

async function heapOf(operation: Operation): Promise<number> {
  global.gc?.()
  const profiler = new GCProfiler()
  profiler.start()
  const before = getHeapStatistics().used_heap_size
  for (let turn = 0; turn < operations; turn += 1) await operation()
  const used = getHeapStatistics().used_heap_size - before
  const collections = profiler.stop()?.statistics.length
  if (collections !== 0) throw new Error(`The heap was collected: ${collections}`)
  return used / operations / 1024
}

/** A timer that operations share is no timer of one: how many of them it serves depends on the load of the machine. */
async function objectsOf(operation: Operation): Promise<Pick<Counts, 'promises' | 'timers'>> {
  let [promises, timers] = [0, 0]
  const hook = createHook({
    init(_id, type) {
      if (type === 'PROMISE') promises += 1
      if (type === 'Timeout') timers += 1
    },
  }).enable()
  const made: Pick<Counts, 'promises' | 'timers'>[] = []
  for (let turn = 0; turn < operations; turn += 1) {
    ;[promises, timers] = [0, 0]
    await operation()
    made.push({ promises, timers })
  }
  hook.disable()
  return {
    promises: median(made.map((one) => one.promises)),
    timers: atPart(
      made.map((one) => one.timers),
      0,
    ),
  }
}
