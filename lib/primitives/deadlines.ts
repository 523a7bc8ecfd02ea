interface Wait {
  ticksLeft: number
  readonly late: () => void
}

/** Milliseconds. */
const tick = 25

const waits = new Set<Wait>()
let timer: NodeJS.Timeout | undefined

/**
 * The returned function ends the wait. Never early, and at most two ticks late while the process runs. All waits share
 * one timer that counts ticks, so a process that stands still loses one tick only: Node runs timers before it reads
 * sockets, and the answer may be there already.
 */
export function wait(seconds: number, late: () => void): () => void {
  // The first tick may follow at once.
  const begun = { ticksLeft: Math.ceil((seconds * 1000) / tick) + 1, late }
  waits.add(begun)
  timer ??= setInterval(countTick, tick)
  return () => void waits.delete(begun)
}

/** Ends `act` with the error of `late`, but not what it does. */
export function inTime<T>(act: Promise<T>, seconds: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = wait(seconds, () => reject(late()))
    act.then(resolve, reject).finally(end)
  })
}

function countTick(): void {
  if (waits.size === 0) {
    clearInterval(timer)
    timer = undefined
  }
  for (const each of waits) {
    if (--each.ticksLeft > 0) continue
    waits.delete(each)
    each.late()
  }
}
