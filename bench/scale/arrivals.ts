/** What became of requests that came whether or not earlier ones were answered. */
export interface Arrivals {
  readonly perSecond: number
  /** Milliseconds from when a request was due until its answer was there. */
  readonly median: number
  readonly p99: number
  readonly p999: number
  /** Part of one core that it took to send all this: near 1 the generator measures itself. */
  readonly generatorBusy: number
}

// Milliseconds. Redis works on the generator's core, and gets it while the generator sleeps.
const nap = 0.05
const sleepingPlace = new Int32Array(new SharedArrayBuffer(4))

/**
 * Begins operations at that many a second on average, with the random gaps of independent clients (Poisson). A request that
 * finds every connection taken waits for one, and that counts: its time begins when it was due, so that a server which
 * stalls is held to all who came meanwhile.
 */
export async function arrive(
  operations: readonly (() => Promise<void>)[],
  perSecond: number,
  milliseconds: number,
): Promise<Arrivals> {
  const idle = [...operations]
  const waiting: number[] = []
  const latencies: number[] = []
  const begun: Promise<void>[] = []
  const ownBefore = process.cpuUsage()
  const start = performance.now()
  const end = start + milliseconds
  let due = start
  while (due < end) {
    for (const now = performance.now(); due <= now && due < end; due += gap(perSecond)) {
      const operation = idle.shift()
      if (operation === undefined) waiting.push(due)
      else begun.push(work(operation, due))
    }
    if (performance.now() < due) Atomics.wait(sleepingPlace, 0, 0, nap)
    await turn()
  }
  await Promise.all(begun)
  const own = process.cpuUsage(ownBefore)
  const generatorBusy = (own.user + own.system) / (performance.now() - start) / 1000
  latencies.sort((a, b) => a - b)
  const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? Number.NaN
  return {
    perSecond: (latencies.length / milliseconds) * 1000,
    median: at(0.5),
    p99: at(0.99),
    p999: at(0.999),
    generatorBusy,
  }

  async function work(operation: () => Promise<void>, firstDue: number): Promise<void> {
    for (let since: number | undefined = firstDue; since !== undefined; since = waiting.shift()) {
      await operation()
      latencies.push(performance.now() - since)
    }
    idle.push(operation)
  }
}

function gap(perSecond: number): number {
  return (-Math.log(1 - Math.random()) / perSecond) * 1000
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
