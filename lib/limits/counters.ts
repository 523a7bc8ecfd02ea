import { isRecord } from '../primitives/options-reader'

/** The current count, and the whole seconds until the count begins again at 0. */
export interface Count {
  readonly count: number
  readonly secondsLeft: number
}

/**
 * Counts for a limited time, across all processes: failed attempts, and uses of values that are good once. Keys hold no
 * credential in clear. A rejected promise means that the counters failed. The server then responds with
 * `temporarily_unavailable`.
 */
export interface Counters {
  /**
   * Adds 1 to a count, or takes 1 back, in one atomic act, and resolves to the new count. The count ends `seconds`
   * after its first addition, and is never below 0.
   */
  add(key: string, amount: 1 | -1, seconds: number): Promise<Count>

  /**
   * Uses up a key for `seconds`, in one atomic act. Resolves to true for the first call within that time, and to false
   * for every later call. Of any number of parallel calls, exactly one resolves to true.
   *
   * @param share names who uses the key: a client, or a network of senders that prove none. Counters in memory give one
   * share a quarter of their room at most. Other counters may ignore it.
   */
  useOnce(key: string, seconds: number, share?: string): Promise<boolean>
}

/** Whether a value has both verbs of counters. */
export function isCounters(value: unknown): value is Counters {
  return isRecord(value) && ['add', 'useOnce'].every((verb) => typeof value[verb] === 'function')
}

/** Says what counters need, as the rest of a sentence that begins with the path of the option. */
export const countersExpectation =
  'must have the functions add and useOnce, as redisStore({ url }).counters and memoryCounters() have.'
