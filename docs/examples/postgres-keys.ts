import type { KeyStore } from 'express-authorization-server'
import type { Pool } from 'pg'
import { isWritten } from './postgres-rows'

/** For your migrations. Bytes, because PostgreSQL refuses a NUL in any text. */
export const keysSchema = `
create table if not exists oauth_keys (
  name text collate "C" primary key,
  revision text collate "C" not null,
  sealed bytea not null
);
`

const find = `select revision, sealed from oauth_keys where name = $1`

// A row with our own revision was written by us: only the reply was lost.
const create = `
insert into oauth_keys as stored (name, revision, sealed) values ($1, $2, $3)
on conflict (name) do update set revision = excluded.revision where stored.revision = excluded.revision`

const replace = `update oauth_keys set revision = $2, sealed = $3 where name = $1 and revision in ($2, $4)`

/** The signing keys that servers make and share, in PostgreSQL: a few rows, for ever. */
export function postgresKeys(pool: Pool): KeyStore {
  return {
    async find(name) {
      const { rows } = await pool.query<Record<string, unknown>>(find, [name])
      const [row] = rows
      if (row === undefined) return undefined
      const { revision, sealed } = row
      if (typeof revision !== 'string' || !Buffer.isBuffer(sealed))
        throw new Error('The columns revision and sealed of oauth_keys must be of the types text and bytea.')
      return { text: sealed.toString(), revision }
    },

    async save(name, text, revision, expected) {
      const row = [name, revision, Buffer.from(text)]
      return isWritten(
        expected === undefined
          ? await pool.query(create, row)
          : await pool.query(replace, [...row, expected]),
      )
    },
  }
}
