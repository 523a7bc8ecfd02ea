export {
  postgresSchema,
  postgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../stores/postgres/postgres-store'
export type { PostgresPool } from '../stores/postgres/pool'
export type { PostgresTables } from '../stores/postgres/statements'
