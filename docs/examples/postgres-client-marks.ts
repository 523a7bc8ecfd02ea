import type { AuthorizationIndex } from 'express-authorization-server'
import type { Pool } from 'pg'
import { sweepOf } from './postgres-rows'

/** For your migrations: a row for each client whose authorizations ended together. */
export const clientMarksSchema = `
create table if not exists oauth_revoked_clients (
  client text collate "C" primary key,
  revoked_before bigint not null,
  expires_at timestamptz not null
);
create index if not exists oauth_revoked_clients_expires_at on oauth_revoked_clients (expires_at);
`

/** Deletes what has expired. */
export const clientMarksSweeps = [sweepOf('oauth_revoked_clients', 'client')]

// A mark that has expired counts no more, whatever it says.
const revokeClient = `
insert into oauth_revoked_clients as stored (client, revoked_before, expires_at)
values ($1, $2, now() + $3::float8 * interval '1 second')
on conflict (client) do update set
  revoked_before = greatest(excluded.revoked_before, case when stored.expires_at > now() then stored.revoked_before end),
  expires_at = greatest(stored.expires_at, excluded.expires_at)`

const revokedBefore = `
select revoked_before::float8 from oauth_revoked_clients where client = $1 and expires_at > now()`

/** The marks of clients, in PostgreSQL: the part of the index that no owner has. */
export function postgresClientMarks(pool: Pool): Pick<AuthorizationIndex, 'revokeClient' | 'revokedBefore'> {
  return {
    async revokeClient(client, at, lifetime) {
      await pool.query(revokeClient, [client, at, lifetime])
    },

    async revokedBefore(client) {
      const { rows } = await pool.query<{ readonly revoked_before: unknown }>(revokedBefore, [client])
      const at = rows[0]?.revoked_before
      if (at === undefined || typeof at === 'number') return at
      throw new Error('The column revoked_before of oauth_revoked_clients must be of the type bigint.')
    },
  }
}
