import { memoryCounters, type Counters } from '../../lib/index'

/** Counters in memory, and the keys of what was added to them. */
export function watchedCounters(): { readonly keys: readonly string[]; readonly counters: Counters } {
  const keys: string[] = []
  const inner = memoryCounters()
  const counters: Counters = {
    add: async (key, amount, seconds) => {
      keys.push(key)
      return inner.add(key, amount, seconds)
    },
    useOnce: async (key, seconds) => inner.useOnce(key, seconds),
  }
  return { keys, counters }
}
