import { inTime } from '../../primitives/clock'
import type { Count, Store } from '../../store/store'

/** Resolves to the count as it is stored, below 0 too. */
type Send = (key: string, amount: number, seconds: number) => Promise<Count>

interface Caller {
  readonly resolve: (count: Count) => void
  readonly reject: (error: unknown) => void
}

/** Equal additions, for one statement. */
interface Batch {
  readonly amount: 1 | -1
  readonly seconds: number
  readonly callers: Caller[]
}

/**
 * Additions of this process to one key that wait for the statement before them go together: they all run at the same
 * time, so any order is right.
 */
export function gathered(send: Send): Store['add'] {
  /** By key, while a statement is under way. */
  const waiting = new Map<string, Map<string, Batch>>()
  const sendAll = async (key: string, batches: Map<string, Batch>) => {
    waiting.set(key, batches)
    // The loop reaches batches that come meanwhile, too.
    for (const [name, batch] of batches) {
      batches.delete(name)
      await sendBatch(send, key, batch)
    }
    waiting.delete(key)
  }
  return (key, amount, seconds) =>
    new Promise((resolve, reject) => {
      const batches = waiting.get(key)
      const name = `${amount} ${seconds}`
      const batch = batches?.get(name) ?? { amount, seconds, callers: [] }
      batch.callers.push({ resolve, reject })
      if (batches === undefined) void sendAll(key, new Map([[name, batch]]))
      else batches.set(name, batch)
    })
}

/** Others to the same key must not wait behind a connection that is dead. */
const silence = { seconds: 2, late: () => new Error('The pool did not reply within 2 s.') }

async function sendBatch(send: Send, key: string, { amount, seconds, callers }: Batch): Promise<void> {
  try {
    const stored = await inTime(() => send(key, amount * callers.length, seconds), silence)
    callers.forEach(({ resolve }, index) => {
      const count = Math.max(0, stored.count - amount * (callers.length - 1 - index))
      resolve({ count, secondsLeft: count === 0 ? 0 : stored.secondsLeft })
    })
  } catch (error) {
    for (const { reject } of callers) reject(error)
  }
}
