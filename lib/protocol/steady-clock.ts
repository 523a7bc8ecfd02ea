/**
 * A clock for durations: it only moves forward, by the time that passes. `Date.now` steps when the machine's time is
 * set right, and a limit of a minute would then answer for an hour. In its place this clock reads the monotonic clock
 * of the process. An injected clock moves it forward as it goes forward; going back does not move it.
 *
 * @param clock milliseconds since the epoch.
 * @returns milliseconds since an arbitrary moment, close to the epoch. Compare them with each other, not with times.
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
