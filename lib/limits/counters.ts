import type { Count } from '../store/store'

/**
 * Temporary counts across all processes: failed attempts, and uses of values that are good once. Keys hold no
 * credential in clear. A rejection becomes `temporarily_unavailable`.
 */
export interface Counters {
  /** Adds atomically; resolves to the new count. It ends `seconds` after its first addition, and is never below 0. */
  add(key: string, amount: 1 | -1, seconds: number): Promise<Count>

  /**
   * Uses up a key for `seconds`, atomically: of all calls within that time, parallel ones too, only the first resolves
   * to true.
   *
   * @param share who uses the key: a client, or a network of unproven senders.
   */
  useOnce(key: string, seconds: number, share?: string): Promise<boolean>
}
