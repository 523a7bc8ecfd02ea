/**
 * For durations: `Date.now` steps when the machine's time is corrected, and a limit of a minute could last an hour.
 * Reads the monotonic clock in its place; an injected clock that goes back does not move it.
 */
export function steadyClock(clock: () => number): () => number {
  if (clock === Date.now) return () => performance.timeOrigin + performance.now()
  let lastRead = clock()
  let steady = lastRead
  return () => {
    const read = clock()
    if (read > lastRead) steady += read - lastRead
    lastRead = read
    return steady
  }
}

/** Whole seconds of a clock in milliseconds. */
export const secondsOf = (clock: () => number) => (): number => Math.floor(clock() / 1000)
