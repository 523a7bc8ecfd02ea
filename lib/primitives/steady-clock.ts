/**
 * Makes a clock for durations, which only moves forward. `Date.now` steps when the time of the machine is corrected,
 * and a limit of a minute could then last an hour. In place of `Date.now`, this clock reads the monotonic clock of
 * the process. An injected clock moves this clock forward; an injected clock that goes back does not move it.
 *
 * @param clock milliseconds since the epoch.
 * @returns milliseconds since an arbitrary moment close to the epoch. Compare them with each other, not with times.
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
