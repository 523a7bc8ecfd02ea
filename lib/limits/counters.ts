import { isRecord } from '../primitives/options-reader'

/** A count, and the whole seconds until it begins again at 0. */
export interface Count {
  readonly count: number
  readonly secondsLeft: number
}

/**
 * Counts for a limited time across all processes: failed attempts, and uses of values that are good once.
 * Keys hold no credential in clear. If the counters reject, the server answers `temporarily_unavailable`.
 */
export interface Counters {
  /**
   * Adds 1 or takes 1 back in one atomic act; resolves to the new count. The count ends `seconds` after its
   * first addition, and is never below 0.
   */
  add(key: string, amount: 1 | -1, seconds: number): Promise<Count>

  /**
   * Uses up a key for `seconds`, in one atomic act. Of any number of calls within that time, parallel ones
   * too, exactly the first resolves to true.
   *
   * @param share who uses the key: a client, or a network of senders that prove none. Counters in memory give
   * one share at most a quarter of their room. Other counters may ignore it.
   */
  useOnce(key: string, seconds: number, share?: string): Promise<boolean>
}

export function isCounters(value: unknown): value is Counters {
  return isRecord(value) && ['add', 'useOnce'].every((verb) => typeof value[verb] === 'function')
}

/** The rest of a sentence that begins with the path of the option. */
export const countersExpectation =
  'must have the functions add and useOnce, as redisStore({ url }).counters and memoryCounters() have.'
