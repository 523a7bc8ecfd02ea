import { memoryStore, type Store } from '../../lib/index'
import { but } from './stores/but'

/** Counts in memory, and the keys of what was added to them. */
export function watchedCounters(): { readonly keys: readonly string[]; readonly counters: Store } {
  const keys: string[] = []
  const inner = memoryStore()
  const add: Store['add'] = async (key, amount, seconds) => {
    keys.push(key)
    return inner.add(key, amount, seconds)
  }
  return { keys, counters: but(inner, { add }) }
}
