import { isRecord } from '../protocol/configuration'

/** A count as it stands, and the whole seconds until it begins anew. */
export interface Count {
  readonly count: number
  readonly secondsLeft: number
}

/**
 * What is counted for a while, by all processes together: failed attempts, and uses of what may be used once. Keys hold
 * no credential in clear. A rejected promise means trouble and is answered as `temporarily_unavailable`.
 */
export interface Counters {
  /**
   * Adds to a count, or takes one back, in one atomic act, and returns it. The count begins anew `seconds` after its
   * first addition. It is never below 0.
   */
  add(key: string, amount: 1 | -1, seconds: number): Promise<Count>

  /**
   * Whether nobody has spent the key within the last `seconds`; from now on it is spent. One atomic act: of any number of
   * parallel calls one gets true.
   *
   * @param clientId the client that spends it. Counters in memory keep a quarter of their room for one client at most;
   * others need not look at it.
   */
  useOnce(key: string, seconds: number, clientId?: string): Promise<boolean>
}

/** Whether a value that a host gives has both verbs. */
export function isCounters(value: unknown): value is Counters {
  return isRecord(value) && ['add', 'useOnce'].every((verb) => typeof value[verb] === 'function')
}

/** What cures a value that has not, as the rest of a sentence. */
export const countersCure =
  'must have the functions add and useOnce, as redisStore({ url }).counters and memoryCounters() have.'
