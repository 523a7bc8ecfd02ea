import { randomFillSync } from 'node:crypto'

/** A source of random bytes; {@link secureRandom} unless a test needs to know them. */
export type Random = (bytes: number) => Buffer

// A call of the system for each few bytes costs more than the rest of making a token.
const pool = Buffer.alloc(4096)
let used = pool.length

/** Random bytes of the system, drawn ahead. None is handed out twice, and none is left behind once it is handed out. */
export const secureRandom: Random = (bytes) => {
  if (bytes > pool.length) return randomFillSync(Buffer.alloc(bytes))
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const drawn = Buffer.from(pool.subarray(used, used + bytes))
  pool.fill(0, used, used + bytes)
  used += bytes
  return drawn
}
