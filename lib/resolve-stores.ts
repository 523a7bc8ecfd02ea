import { ConfigurationError, isRecord, type OptionsReader } from './protocol/configuration'
import type { ServerSettings } from './settings'
import { isAuthorizationStore, storeCure, type AuthorizationStore } from './stores/authorization-store'
import { countersCure, isCounters, type Counters } from './stores/counters'
import { memoryCounters } from './stores/memory-counters'
import { memoryStore } from './stores/memory-store'
import { warnOnce } from './warning'

/** Reads where authorizations live, and where is counted what is counted beside them. */
export function resolveStores(
  reading: OptionsReader,
  clock: () => number,
): Pick<ServerSettings, 'store' | 'counters'> {
  const store = resolveStore(reading, clock)
  return { store, counters: resolveCounters(reading, store, clock) }
}

function resolveStore(reading: OptionsReader, clock: () => number): AuthorizationStore {
  const placeholder = memoryStore({ clock, allowInProduction: true })
  if (reading.take('store') !== undefined)
    return reading.required('store', placeholder, isAuthorizationStore, storeCure)
  try {
    return memoryStore({ clock })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    reading.issues.push(...error.issues)
    return placeholder
  }
}

/**
 * Reads where is counted: as given, or beside the records, or in memory.
 *
 * @param inUse whether anything is counted, so that processes which do not share their counters are worth a warning.
 */
export function resolveCounters(
  reading: OptionsReader,
  store: AuthorizationStore,
  clock: () => number,
  inUse = true,
): Counters {
  const given = reading.optional<Counters | undefined>('counters', undefined, isCounters, countersCure)
  if (given !== undefined) return given
  if (isRecord(store) && isCounters(store['counters'])) return store['counters']
  if (inUse && process.env['NODE_ENV'] === 'production')
    warnOnce(
      'EAS_COUNTERS_IN_MEMORY',
      'The store has no counters, so each process counts failed attempts and single uses for itself. Pass the option counters, such as redisStore({ url }).counters.',
    )
  return memoryCounters({ clock })
}
