import { type Field, kind, optional, type Place } from '../primitives/schema'
import { warnOnce } from '../audit/warning'
import { ConfigurationError } from '../primitives/configuration-error'
import { withDeadline } from '../store/deadline'
import { memoryStore } from '../store/memory-store'
import { aStore, isStore, noStore, type Store } from '../store/store'
import type { ServerSettings } from './settings'

export function resolveStores(
  at: Place,
  clock: () => number,
  storeDeadline: number,
): Pick<ServerSettings, 'givenStore' | 'store' | 'counters'> {
  const givenStore = at.field('store', givenOrMemory(clock))
  const store = withDeadline(givenStore, storeDeadline)
  return { givenStore, store, counters: resolveCounters(at, store, storeDeadline, clock) }
}

const givenOrMemory =
  (clock: () => number): Field<Store> =>
  (given, at, name) => {
    if (given !== undefined) return aStore(given, at, name)
    try {
      return memoryStore({ clock })
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      at.issues.push(...error.issues)
      return noStore
    }
  }

/**
 * @param store with its deadline.
 * @param inUse whether anything uses the counters: only then, unshared counters cause a warning in
 *   production.
 */
export function resolveCounters(
  at: Place,
  store: Store | undefined,
  storeDeadline: number,
  clock: () => number,
  inUse = true,
): Store {
  const given = at.field('counters', optional(kind(isStore, 'must be a store, such as redisStore({ url }).')))
  if (given !== undefined) return withDeadline(given, storeDeadline)
  if (store !== undefined) return store
  if (inUse && process.env['NODE_ENV'] === 'production')
    warnOnce(
      'EAS_COUNTERS_IN_MEMORY',
      'The guard has no store, so each process counts failed attempts and single uses separately. Pass the option counters, such as redisStore({ url }).',
    )
  return memoryStore({ clock, allowInProduction: true })
}
