/**
 * For durations: `Date.now` steps when the machine's time is corrected, and a minute could last an hour. An injected
 * clock that goes back does not move it.
 */
export function steadyClock(clock: () => number): () => number {
  if (clock === Date.now) return () => timeOrigin + performance.now()
  let lastRead = clock()
  let steady = lastRead
  return () => {
    const read = clock()
    if (read > lastRead) steady += read - lastRead
    lastRead = read
    return steady
  }
}

const { timeOrigin } = performance

export const secondsOf = (clock: () => number) => (): number => Math.floor(clock() / 1000)

/** Milliseconds. */
const tick = 25

let waits: Wait[] = []
let timer: NodeJS.Timeout | undefined

/**
 * Never early, and at most two ticks late. All waits share one timer that counts ticks, so a process that stands still
 * loses one tick only: the answer may be there already.
 */
export class Wait {
  // The first tick may follow at once.
  private ticksLeft: number

  constructor(
    seconds: number,
    private readonly late: () => Error,
    private fail: ((late: Error) => void) | undefined,
  ) {
    this.ticksLeft = Math.ceil((seconds * 1000) / tick) + 1
    waits.push(this)
    timer ??= setInterval(countTick, tick)
  }

  end(): void {
    this.fail = undefined
  }

  /** False at the end. */
  countTick(): boolean {
    if (this.fail !== undefined && --this.ticksLeft === 0) {
      this.fail(this.late())
      this.fail = undefined
    }
    return this.fail !== undefined
  }
}

export interface Deadline {
  readonly seconds: number
  readonly late: () => Error
  /** Makes the error of an act that fails. Default: the same. */
  readonly failed?: (cause: unknown) => unknown
}

/** The act goes on after its deadline. */
export const inTime = <T>(act: () => Promise<T>, deadline: Deadline): Promise<T> =>
  madeInTime(act, deadline, same)

/** The error of `make` is one of the act. */
export function madeInTime<T, Made>(
  act: () => Promise<T>,
  { seconds, late, failed = same }: Deadline,
  make: (value: T) => Made,
): Promise<Made> {
  return new Promise((resolve, reject) => {
    const waiting = new Wait(seconds, late, reject)
    const answered = (value: T) => {
      waiting.end()
      try {
        resolve(make(value))
      } catch (cause) {
        reject(failed(cause))
      }
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

const same = <T>(value: T): T => value

function countTick(): void {
  if (waits.length === 0) {
    clearInterval(timer)
    timer = undefined
  }
  const before = waits
  waits = []
  for (const each of before) if (each.countTick()) waits.push(each)
}
