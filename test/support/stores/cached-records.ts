import type { Store } from '../../../lib/index'
import type { RedisStore } from '../../../lib/paths/redis'
import { activeRecord, authorizationsOf, findById, inSeconds, saveRecord, version } from './records'
import { waitUntil } from '../wait-until'

/** A record with an access token, saved; its id. */
export async function savedRecord(store: Store, seconds = 600): Promise<string> {
  const written = version(activeRecord(inSeconds(seconds)))
  await saveRecord(store, written)
  return written.authorization.id
}

/** Whether the cache knows it. */
export function recalls(store: RedisStore, id: string): boolean {
  return authorizationsOf(store).getCached?.(id) !== undefined
}

/**
 * Waits until the cache forgets all of them. Resolves to the last moment at which it still knew one, however late a busy
 * machine looks.
 */
export async function lastRecall(store: RedisStore, ...ids: readonly string[]): Promise<number> {
  let last = 0
  await waitUntil('it is not used', async () => {
    const now = performance.now()
    const isKnown = ids.some((id) => recalls(store, id))
    if (isKnown) last = now
    return !isKnown
  })
  return last
}

/** Reads it until the cache knows it, which needs that the cache is on. */
export function isCached(store: RedisStore, id: string): Promise<void> {
  return waitUntil('it is cached', async () => {
    if (recalls(store, id)) return true
    await findById(store, id).catch(() => undefined)
    return recalls(store, id)
  })
}

/** A record that the cache knows. */
export async function cachedRecord(store: RedisStore, writer: Store = store): Promise<string> {
  const id = await savedRecord(writer)
  await isCached(store, id)
  return id
}

/** Waits until the cache has forgotten it; whether it still knows another record, so that it was on all the time. */
export async function forgetsOnly(store: RedisStore, id: string, known: string): Promise<boolean> {
  await waitUntil('it is forgotten', async () => !recalls(store, id))
  return recalls(store, known)
}
