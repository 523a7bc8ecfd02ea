/** Milliseconds. */
const tick = 25

const waits = new Set<Wait>()
let timer: NodeJS.Timeout | undefined

/**
 * Begins when it is made. Never early, and at most two ticks late while the process runs. All waits share one timer that
 * counts ticks, so a process that stands still loses one tick only: Node runs timers before it reads sockets, and the
 * answer may be there already.
 */
export class Wait {
  // The first tick may follow at once.
  ticksLeft: number

  constructor(
    seconds: number,
    readonly late: () => void,
  ) {
    this.ticksLeft = Math.ceil((seconds * 1000) / tick) + 1
    waits.add(this)
    timer ??= setInterval(countTick, tick)
  }

  end(): void {
    waits.delete(this)
  }
}

/** Ends `act` with the error of `late`, but not what it does. */
export function inTime<T>(act: Promise<T>, seconds: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const waiting = new Wait(seconds, () => reject(late()))
    act.then(resolve, reject).finally(() => waiting.end())
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
