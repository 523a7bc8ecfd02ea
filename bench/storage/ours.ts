import { memoryStore, type Store, type StoredValue } from 'express-authorization-server'
import { lifetimes } from '../cast'
import { find, findAtOnce, keepAtOnce, remove } from './records'

const own = memoryStore({ allowInProduction: true })
const isAuthorization = (key: string) => key.startsWith('authorization:')

/** The authorizations of the suite in a map, and everything else in its own store in memory. */
export const inMemory = (): { readonly store: Store } => ({
  store: {
    read: (key) => (isAuthorization(key) ? find<StoredValue>(key) : own.read(key)),
    // One promise, as of any database.
    async write(key, value, terms) {
      if (!isAuthorization(key)) return own.write(key, value, terms)
      const { version, expected } = terms
      const kept: Partial<StoredValue> = findAtOnce(key) ?? {}
      if (kept.version === version) return true
      if (kept.version !== expected) return false
      const stored: StoredValue = { value, version }
      keepAtOnce(key, stored, lifetimes.refreshToken)
      return true
    },
    remove: async (key) => void (await remove(key)),
    add: (...words) => own.add(...words),
    list: (kind) => own.list(kind),
  },
})
