import type { Authorization } from '../authorization/authorization'
import { BoundedMap } from '../protocol/bounded-map'
import { type AuthorizationStore, confirmAbsence } from '../stores/authorization-store'
import { isDynamicClientId } from './client-id'
import { day, type DynamicRegistration } from './options'

const maximumNoted = 10_000

type Noting = Pick<DynamicRegistration, 'store' | 'lifetime' | 'requestLifetime' | 'clock'>

/**
 * Decorates a store of authorizations: a client that registered itself lives on with each code and token that it gets.
 * The note of a use leaves in the same turn of the event loop as the write of the record, so that a Redis connection
 * sends both in one packet. A process notes the use of a client once a day, and the store of dynamic clients writes
 * nothing if another process has noted it that day.
 */
export function notingUse(store: AuthorizationStore, noting: Noting): AuthorizationStore {
  const { lifetime, requestLifetime, clock } = noting
  // Seconds since the epoch at which this process last noted the use of a client.
  const noted = new BoundedMap<number>(maximumNoted)
  const noteUse = async (clientId: string) => {
    const now = Math.floor(clock() / 1000)
    const before = noted.get(clientId)
    if (before !== undefined && now >= before && now - before < day) return
    // Two requests at once note the use once.
    noted.put(clientId, now)
    try {
      await noting.store.extend(clientId, lifetime, lifetime - day)
    } catch {
      // The next use of the client notes again. A failure must not take the code or token from this one.
      noted.delete(clientId)
    }
  }
  // A client must not end while its first resource owner is still deciding.
  const noteRequest = async (clientId: string) => {
    if (noted.has(clientId)) return
    await noting.store.extend(clientId, requestLifetime, requestLifetime).catch(() => undefined)
  }
  return {
    getCached: (id) => store.getCached?.(id),
    find: (id) => store.find(id),
    save(authorization, revision, expected) {
      const saved = store.save(authorization, revision, expected)
      const clientId = clientOf(authorization)
      if (clientId === undefined || !isDynamicClientId(clientId)) return saved
      const note = isUse(authorization) ? noteUse(clientId) : noteRequest(clientId)
      return Promise.all([saved, note]).then(([isSaved]) => isSaved)
    },
    remove: (id) => store.remove(id),
    confirmAbsent: store.confirmAbsent && ((id) => confirmAbsence(store, id)),
  }
}

const clientOf = (authorization: Authorization) =>
  'clientId' in authorization ? authorization.clientId : undefined
const isUse = ({ state }: Authorization) => state === 'approved' || state === 'active'
