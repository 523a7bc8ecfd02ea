export { sqliteStore, type SqliteStoreOptions } from './sqlite-store'
export type { Count, Store, StoredValue, StoreWarning, WriteTerms } from '../../store/store'
