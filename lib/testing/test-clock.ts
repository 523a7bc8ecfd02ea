/** A clock that stands still until a test moves it. */
export interface TestClock {
  /** Milliseconds since the epoch. */
  (): number
  /** Moves the clock on by so many seconds. */
  advance(seconds: number): void
}

/**
 * Makes a clock for the option `clock` of a server, a guard and `memoryStore()`. Give one clock to all of them. Redis
 * expires keys by its own clock, which no test moves; the suite still refuses what has expired by this one.
 *
 * @param start milliseconds since the epoch. Default: now.
 */
export function testClock(start: number = Date.now()): TestClock {
  let now = start
  const advance = (seconds: number) => {
    now += seconds * 1000
  }
  return Object.assign(() => now, { advance })
}
