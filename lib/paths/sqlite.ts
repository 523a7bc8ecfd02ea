export { sqliteStore, type SqliteStoreOptions } from '../stores/sqlite/sqlite-store'
