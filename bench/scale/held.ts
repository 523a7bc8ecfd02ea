import { openSync, readSync } from 'node:fs'

const bytes = Buffer.alloc(96)
const statistics = openSync('/proc/self/schedstat', 'r')

function waited(): number {
  const length = readSync(statistics, bytes, 0, bytes.length, 0)
  return Number(bytes.toString('latin1', 0, length).split(' ')[1]) / 1e6
}

/** Milliseconds that the main thread of this process did not wait for a core: other programs do not count. */
function ownTime(): number {
  for (;;) {
    const before = waited()
    const now = performance.now()
    if (waited() === before) return now - before
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** The longest turn of the event loop while something runs, in milliseconds: worked, or stood still in a call. Linux alone. */
export async function longestHold(act: () => Promise<unknown>): Promise<number> {
  let [longest, before, isOver] = [0, 0, false]
  const look = () => {
    longest = Math.max(longest, ownTime() - before)
    before = ownTime()
    if (!isOver) setImmediate(look)
  }
  before = ownTime()
  setImmediate(look)
  await turn()
  await act()
  await turn()
  isOver = true
  return longest
}
