import type { AuthorizationIndex, EntryOutcome, IndexEntry } from 'express-authorization-server'
import type { Pool } from 'pg'
import { clientMarksSchema, clientMarksSweeps, postgresClientMarks } from './postgres-client-marks'
import { sweepOf } from './postgres-rows'

/** For your migrations: a row for each resource owner, with the mark, and a row for each authorization of the owner. */
export const indexSchema = `${clientMarksSchema}
create table if not exists oauth_owners (
  owner text collate "C" primary key,
  marked_at timestamptz not null,
  mark_ends_at timestamptz not null,
  entries_at_most integer not null,
  expires_at timestamptz not null
);
create index if not exists oauth_owners_expires_at on oauth_owners (expires_at);
create table if not exists oauth_owner_entries (
  owner text collate "C" not null,
  authorization_id text collate "C" not null,
  client_id text collate "C" not null,
  expires_at timestamptz not null,
  primary key (owner, authorization_id)
);
create index if not exists oauth_owner_entries_expires_at on oauth_owner_entries (expires_at);
`

/** Deletes what has expired. */
export const indexSweeps = [
  ...clientMarksSweeps,
  sweepOf('oauth_owners', 'owner'),
  sweepOf('oauth_owner_entries', 'owner, authorization_id'),
]

const seconds = (parameter: string) => `${parameter}::float8 * interval '1 second'`

// The row of the owner is the lock: an addition and a mark of one owner wait for each other, and the one that waited
// sees what the other one wrote. Entries are counted only where 10 000 may be there. This count is from before the wait,
// so as many entries may be too many as waited at once.
const add = `
with owner as (
  insert into oauth_owners as stored (owner, marked_at, mark_ends_at, entries_at_most, expires_at)
  values ($1, '-infinity', '-infinity', 1, now() + ${seconds('$4')})
  on conflict (owner) do update set
    entries_at_most = 1 + case when stored.entries_at_most < 10000 then stored.entries_at_most
      else (select count(*) from oauth_owner_entries where owner = $1 and expires_at > now()) end,
    expires_at = greatest(stored.expires_at, excluded.expires_at)
  returning entries_at_most, mark_ends_at > now() and marked_at >= now() - ${seconds('$5')} as is_marked
), entry as (
  insert into oauth_owner_entries (owner, authorization_id, client_id, expires_at)
  select $1, $2, $3, now() + ${seconds('$4')} from owner
  where not is_marked and (entries_at_most <= 10000
    or exists (select from oauth_owner_entries where owner = $1 and authorization_id = $2))
  on conflict (owner, authorization_id) do update set expires_at = excluded.expires_at
  returning authorization_id
)
select case when is_marked then 'marked' when exists (select from entry) then 'added' else 'full' end as outcome
from owner`

const list = `
select authorization_id, client_id from oauth_owner_entries where owner = $1 and expires_at > now()`

const remove = `delete from oauth_owner_entries where owner = $1 and authorization_id = any($2)`

// The time after the wait, and not the time of the statement: a mark refuses everything that it waited for.
const mark = `
insert into oauth_owners as stored (owner, marked_at, mark_ends_at, entries_at_most, expires_at)
values ($1, clock_timestamp(), clock_timestamp() + ${seconds('$2')}, 0, clock_timestamp() + ${seconds('$2')})
on conflict (owner) do update set
  marked_at = clock_timestamp(),
  mark_ends_at = clock_timestamp() + ${seconds('$2')},
  expires_at = greatest(stored.expires_at, clock_timestamp() + ${seconds('$2')})`

/** The authorizations of each resource owner, and the marks of clients, in PostgreSQL: each verb one statement. */
export function postgresIndex(pool: Pool): AuthorizationIndex {
  return {
    async add(owner, { authorizationId, clientId }, { seconds: lifetime, age }) {
      const values = [owner, authorizationId, clientId, lifetime, age]
      const { rows } = await pool.query<{ readonly outcome: unknown }>(add, values)
      return outcomeOf(rows[0]?.outcome)
    },

    async list(owner) {
      const { rows } = await pool.query<Record<string, unknown>>(list, [owner])
      return rows.map(entryOf)
    },

    async remove(owner, authorizationIds) {
      await pool.query(remove, [owner, authorizationIds])
    },

    async mark(owner, lifetime) {
      await pool.query(mark, [owner, lifetime])
    },

    ...postgresClientMarks(pool),
  }
}

function outcomeOf(outcome: unknown): EntryOutcome {
  if (outcome === 'added' || outcome === 'marked' || outcome === 'full') return outcome
  throw new Error('The database did not tell what became of an entry.')
}

function entryOf({
  authorization_id: authorizationId,
  client_id: clientId,
}: Record<string, unknown>): IndexEntry {
  if (typeof authorizationId === 'string' && typeof clientId === 'string')
    return { authorizationId, clientId }
  throw new Error('The columns of oauth_owner_entries must be of the type text.')
}
