import { kind, optional } from '../primitives/schema'
import { warnOnce } from '../audit/warning'
import { type Counters, countersExpectation, isCounters } from '../limits/counters'
import { ConfigurationError } from '../primitives/configuration-error'
import type { OptionsReader } from '../primitives/options-reader'
import { memoryCounters } from '../stores/memory-counters'
import { memoryStore } from '../stores/memory-store'
import { noStorage, readStorage, type Storage } from '../stores/storage'
import type { ServerSettings } from './settings'

export function resolveStores(
  reading: OptionsReader,
  clock: () => number,
): Pick<ServerSettings, 'store' | 'counters'> {
  const store = resolveStore(reading, clock)
  return { store, counters: resolveCounters(reading, store, clock) }
}

function resolveStore(reading: OptionsReader, clock: () => number): Storage {
  if (reading.take('store') !== undefined) return readStorage(reading)
  try {
    return memoryStore({ clock })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    reading.issues.push(...error.issues)
    return noStorage
  }
}

/**
 * @param inUse whether anything uses the counters: only then, unshared counters cause a warning in
 *   production.
 */
export function resolveCounters(
  reading: OptionsReader,
  store: Storage | undefined,
  clock: () => number,
  inUse = true,
): Counters {
  const given = reading.field('counters', optional(kind(isCounters, countersExpectation)))
  const counters = given ?? store?.counters
  if (counters !== undefined) return counters
  if (inUse && process.env['NODE_ENV'] === 'production')
    warnOnce(
      'EAS_COUNTERS_IN_MEMORY',
      'There are no shared counters, so each process counts failed attempts and single uses separately. Pass the option counters, such as redisStore({ url }).counters.',
    )
  return memoryCounters({ clock })
}
