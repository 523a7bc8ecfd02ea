export {
  postgresSchema,
  postgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from './postgres-store'
export type { PostgresPool } from './pool'
export type { PostgresTables } from './statements'
