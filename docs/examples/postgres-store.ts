import {
  decodeAuthorization,
  encodeAuthorization,
  expiryOf,
  type AuthorizationIndex,
  type AuthorizationStore,
  type ConsentStore,
  type Counters,
  type KeyStore,
} from 'express-authorization-server'
import type { Pool } from 'pg'
import { consentsSchema, consentsSweeps, postgresConsents } from './postgres-consents'
import { countersSchema, countersSweeps, postgresCounters } from './postgres-counters'
import { indexSchema, indexSweeps, postgresIndex } from './postgres-index'
import { keysSchema, postgresKeys } from './postgres-keys'
import { isWritten, sweepOf } from './postgres-rows'

/** For your migrations. Ids and revisions are compared byte by byte, whatever the database's collation. */
export const schema = `${countersSchema}${indexSchema}${keysSchema}${consentsSchema}
create table if not exists oauth_authorizations (
  id text collate "C" primary key,
  revision text collate "C" not null,
  record text not null,
  expires_at timestamptz not null
);
create index if not exists oauth_authorizations_expires_at on oauth_authorizations (expires_at);
`

const find = `
select revision, record from oauth_authorizations where id = $1 and expires_at > now() and revision <> ''`

// A row that has expired is none. One with our own revision was written by us: only the reply was lost. The mark of a
// removal is a row whose revision no writer has.
const create = `
insert into oauth_authorizations as stored (id, revision, record, expires_at)
values ($1, $2, $3, now() + $4::float8 * interval '1 second')
on conflict (id) do update
set revision = excluded.revision, record = excluded.record, expires_at = excluded.expires_at
where stored.expires_at <= now() or stored.revision = excluded.revision`

// A writer that waited for another one's lock looks at the row again: its revision is not the expected one any more.
const replace = `
update oauth_authorizations
set revision = $2, record = $3, expires_at = now() + $4::float8 * interval '1 second'
where id = $1 and revision in ($2, $5) and expires_at > now()`

// Leaves a mark, longer than any create may take: the creation of an authorization that its owner has revoked meanwhile
// must fail.
const remove = `
insert into oauth_authorizations (id, revision, record, expires_at)
values ($1, '', '', now() + interval '2 minutes')
on conflict (id) do update
set revision = excluded.revision, record = excluded.record, expires_at = excluded.expires_at`

const findMark = `
select from oauth_authorizations where id = $1 and expires_at > now() and revision = ''`

/** What {@link postgresStore} keeps. */
export interface PostgresStore extends AuthorizationStore {
  readonly counters: Counters
  readonly index: AuthorizationIndex
  readonly keys: KeyStore
  readonly consents: ConsentStore
}

/** Authorizations in PostgreSQL 12 or later: a row for each, and each verb one statement. */
export function postgresStore(pool: Pool): PostgresStore {
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on('error', () => {})
  return {
    counters: postgresCounters(pool),
    index: postgresIndex(pool),
    keys: postgresKeys(pool),
    consents: postgresConsents(pool),

    async find(id) {
      const { rows } = await pool.query<Record<string, unknown>>(find, [id])
      const [row] = rows
      if (row === undefined) return undefined
      const { revision, record } = row
      if (typeof revision !== 'string' || typeof record !== 'string')
        throw new Error('The columns revision and record of oauth_authorizations must be of the type text.')
      return { authorization: decodeAuthorization(id, record), revision }
    },

    async save(authorization, revision, expected) {
      // A span and not a point in time, so that the clocks of process and database need not agree.
      const seconds = expiryOf(authorization) - Date.now() / 1000
      const row = [authorization.id, revision, encodeAuthorization(authorization), seconds]
      if (expected !== undefined) return isWritten(await pool.query(replace, [...row, expected]))
      if (isWritten(await pool.query(create, row))) return true
      const { rowCount } = await pool.query(findMark, [authorization.id])
      if (rowCount !== 0) throw new Error('The authorization was removed.')
      return false
    },

    async remove(id) {
      await pool.query(remove, [id])
    },
  }
}

const sweeps = [sweepOf('oauth_authorizations', 'id'), ...countersSweeps, ...indexSweeps, ...consentsSweeps]

/** Deletes what has expired, in small steps. Nothing depends on it but the size of the tables: call it every minute. */
export async function sweep(pool: Pool): Promise<void> {
  for (const step of sweeps) while ((await pool.query(step)).rowCount === 1000);
}
