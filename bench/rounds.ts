import { readFileSync } from 'node:fs'
import { KeptConnection } from './connection'
import type { RunningTarget } from './child'
import type { Story } from './story'

const connections = 32

/** What one round of one target showed. */
export interface Round {
  readonly operations: number
  /** Processor time of the server for one operation, in microseconds. */
  readonly cpu: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly median: number
  readonly p99: number
  /** The part of the machine's time that its host gave to others, 0 for none. */
  readonly stolen: number
}

/** A target with its connections open and everything ready that one workload needs. */
export interface Prepared {
  run(milliseconds: number): Promise<Round>
  /** On one connection, so that no request waits for another. */
  runAlone(milliseconds: number): Promise<Round>
  close(): void
}

// A turn that lost more than this is measured again, because the processor's caches were lost with the time.
const stolenAtMost = 0.02
const attempts = 8

/** The round that lost least to the machine's host: the first that lost nearly nothing, or the best of several. */
export async function quietRound(prepared: Prepared, milliseconds: number): Promise<Round> {
  let best = await prepared.run(milliseconds)
  for (let attempt = 1; attempt < attempts && best.stolen > stolenAtMost; attempt++) {
    const next = await prepared.run(milliseconds)
    if (next.stolen < best.stolen) best = next
  }
  return best
}

/**
 * Opens the connections and warms the server up: by one connection first, as after a deployment behind a balancer. A cold
 * burst on all of them has V8 take what waits in flight for what lives long, and keep it so for good.
 */
export async function prepare(target: RunningTarget, story: Story, warmUp: number): Promise<Prepared> {
  const first = await KeptConnection.open(target.port)
  const operation = await story(first)
  await round(target, [operation], warmUp)
  const open = await Promise.all(Array.from({ length: connections }, () => KeptConnection.open(target.port)))
  const operations = await Promise.all(open.map(story))
  await round(target, operations, warmUp)
  return {
    run: (milliseconds) => round(target, operations, milliseconds),
    runAlone: (milliseconds) => round(target, [operation], milliseconds),
    close: () => {
      for (const connection of [first, ...open]) connection.close()
    },
  }
}

/** Every connection repeats its operation until the time is over. A wrong answer ends everything. */
async function round(
  target: RunningTarget,
  operations: readonly (() => Promise<void>)[],
  milliseconds: number,
): Promise<Round> {
  const latencies: number[] = []
  const before = await target.usage()
  const machineBefore = machineTime()
  const start = performance.now()
  const end = start + milliseconds
  await Promise.all(
    operations.map(async (operation) => {
      for (let now = performance.now(); now < end;) {
        await operation()
        const after = performance.now()
        latencies.push(after - now)
        now = after
      }
    }),
  )
  const elapsed = (performance.now() - start) * 1000
  const machine = machineTime()
  const { cpu } = await target.usage()
  const used = cpu - before.cpu
  latencies.sort((a, b) => a - b)
  const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? 0
  return {
    operations: latencies.length,
    cpu: used / latencies.length,
    perSecond: (latencies.length / elapsed) * 1e6,
    median: at(0.5),
    p99: at(0.99),
    stolen: (machine.stolen - machineBefore.stolen) / Math.max(1, machine.all - machineBefore.all),
  }
}

/** What Linux counts of its processors, in ticks: a virtual machine is told what its host gave to others. */
function machineTime(): { readonly stolen: number; readonly all: number } {
  if (process.platform !== 'linux') return { stolen: 0, all: 0 }
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  const [user = 0, nice = 0, system = 0, idle = 0, waiting = 0, hard = 0, soft = 0, stolen = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return { stolen, all: user + nice + system + idle + waiting + hard + soft + stolen }
}
