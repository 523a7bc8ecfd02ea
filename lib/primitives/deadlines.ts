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

export interface Deadline {
  readonly seconds: number
  readonly late: () => Error
  /** Makes the error of an act that throws or rejects. Default: the same. */
  readonly failed?: (cause: unknown) => unknown
}

/** Rejects when the deadline is over; what the act began goes on. */
export function inTime<T>(act: () => Promise<T>, { seconds, late, failed = same }: Deadline): Promise<T> {
  return new Promise((resolve, reject) => {
    const waiting = new Wait(seconds, () => reject(late()))
    const answered = (value: T) => {
      waiting.end()
      resolve(value)
    }
    const refused = (cause: unknown) => {
      waiting.end()
      reject(failed(cause))
    }
    try {
      act().then(answered, refused)
    } catch (cause) {
      refused(cause)
    }
  })
}

const same = (cause: unknown): unknown => cause

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
