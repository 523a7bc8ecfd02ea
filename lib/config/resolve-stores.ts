import { type Field, kind, optional, type Place } from '../primitives/schema'
import { warnOnce } from '../audit/warning'
import { type Counters, countersExpectation, isCounters } from '../limits/counters'
import { ConfigurationError } from '../primitives/configuration-error'
import { memoryCounters } from '../stores/memory-counters'
import { memoryStore } from '../stores/memory-store'
import { aStorage, noStorage, type Storage } from '../stores/storage'
import type { ServerSettings } from './settings'

export function resolveStores(at: Place, clock: () => number): Pick<ServerSettings, 'store' | 'counters'> {
  const store = at.field('store', aStore(clock))
  return { store, counters: resolveCounters(at, store, clock) }
}

const aStore =
  (clock: () => number): Field<Storage> =>
  (given, at, name) => {
    if (given !== undefined) return aStorage(given, at, name)
    try {
      return memoryStore({ clock })
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      at.issues.push(...error.issues)
      return noStorage
    }
  }

/**
 * @param inUse whether anything uses the counters: only then, unshared counters cause a warning in
 *   production.
 */
export function resolveCounters(
  at: Place,
  store: Storage | undefined,
  clock: () => number,
  inUse = true,
): Counters {
  const given = at.field('counters', optional(kind(isCounters, countersExpectation)))
  const counters = given ?? store?.counters
  if (counters !== undefined) return counters
  if (inUse && process.env['NODE_ENV'] === 'production')
    warnOnce(
      'EAS_COUNTERS_IN_MEMORY',
      'There are no shared counters, so each process counts failed attempts and single uses separately. Pass the option counters, such as redisStore({ url }).counters.',
    )
  return memoryCounters({ clock })
}
