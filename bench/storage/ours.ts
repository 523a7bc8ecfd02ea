import { memoryStore, type Authorization, type StoredAuthorization } from 'express-authorization-server'
import { lifetimes } from '../cast'
import { find, remove, save } from './records'

/** The authorizations of the suite in a map, and its own counters in memory. */
export const inMemory = () => ({
  store: {
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
  counters: memoryStore({ allowInProduction: true }).counters,
})
