import { memoryStore, type Authorization, type StoredAuthorization } from 'express-authorization-server'
import { lifetimes } from '../cast'
import { find, remove, save } from './records'

const { counters, keys } = memoryStore({ allowInProduction: true })

/** The authorizations of the suite in a map, and its own counters and signing keys in memory. */
export const inMemory = () => ({
  store: {
    keys,
    find: (id: string) => find<StoredAuthorization>(id),
    async save(authorization: Authorization, revision: string, expected?: string) {
      const kept = await find<StoredAuthorization>(authorization.id)
      if (kept?.revision === revision) return true
      if (kept?.revision !== expected) return false
      const stored: StoredAuthorization = { authorization, revision }
      await save(authorization.id, stored, lifetimes.refreshToken)
      return true
    },
    remove: async (id: string) => void (await remove(id)),
  },
  counters,
})
