import type { ConsentStore, StoredConsent } from 'express-authorization-server'
import type { Pool } from 'pg'
import { sweepOf } from './postgres-rows'

/** For your migrations: a row for each resource owner, with the mark, and a row for each client of the owner. */
export const consentsSchema = `
create table if not exists oauth_consent_owners (
  owner text collate "C" primary key,
  forgotten_at timestamptz not null,
  expires_at timestamptz not null
);
create index if not exists oauth_consent_owners_expires_at on oauth_consent_owners (expires_at);
create table if not exists oauth_consents (
  owner text collate "C" not null,
  client_id text collate "C" not null,
  consent text not null,
  expires_at timestamptz not null,
  primary key (owner, client_id)
);
create index if not exists oauth_consents_expires_at on oauth_consents (expires_at);
`

/** Deletes what has expired. */
export const consentsSweeps = [
  sweepOf('oauth_consent_owners', 'owner'),
  sweepOf('oauth_consents', 'owner, client_id'),
]

const seconds = (parameter: string) => `${parameter}::float8 * interval '1 second'`

const find = `
select consent from oauth_consents where owner = $1 and client_id = $2 and expires_at > now()`

const list = `
select client_id as "clientId", consent from oauth_consents where owner = $1 and expires_at > now()`

const moment = `select now()::text as moment`

// The row of the owner is the lock: the mark of a `forget` that came before is seen. The consents that end last stay.
const remember = `
with owner as (
  insert into oauth_consent_owners as stored (owner, forgotten_at, expires_at)
  values ($1, '-infinity', now() + ${seconds('$4')})
  on conflict (owner) do update set expires_at = greatest(stored.expires_at, excluded.expires_at)
  returning forgotten_at < $5::timestamptz - ${seconds('$6')} and $6::float8 <= 3600 as is_later
), room as (
  delete from oauth_consents using owner where is_later and (oauth_consents.owner, client_id) in (
    select owner, client_id from oauth_consents where owner = $1 and client_id <> $2
    order by expires_at desc offset 499)
)
insert into oauth_consents (owner, client_id, consent, expires_at)
select $1, $2, $3, now() + ${seconds('$4')} from owner where is_later
on conflict (owner, client_id) do update set consent = excluded.consent, expires_at = excluded.expires_at
returning client_id`

// The time after the wait for the row of the owner. A decision older than an hour is not remembered, so the mark may end
// then.
const mark = `
insert into oauth_consent_owners as stored (owner, forgotten_at, expires_at)
values ($1, clock_timestamp(), clock_timestamp() + interval '1 hour')
on conflict (owner) do update set
  forgotten_at = clock_timestamp(),
  expires_at = greatest(stored.expires_at, excluded.expires_at)`

const remove = `delete from oauth_consents where owner = $1 and ($2::text is null or client_id = $2)`

/** What resource owners have allowed clients, in PostgreSQL. */
export function postgresConsents(pool: Pool): ConsentStore {
  return {
    async find(owner, clientId) {
      const { rows } = await pool.query<{ readonly consent: unknown }>(find, [owner, clientId])
      const consent = rows[0]?.consent
      if (consent === undefined || typeof consent === 'string') return consent
      throw new Error('The column consent of oauth_consents must be of the type text.')
    },

    async list(owner) {
      const { rows } = await pool.query<StoredConsent>(list, [owner])
      return rows
    },

    // The time of the database, before the statement that may be long on its way: a late one remembers nothing.
    async remember(owner, clientId, consent, { seconds: lifetime, age }) {
      const { rows } = await pool.query<{ readonly moment: string }>(moment)
      const values = [owner, clientId, consent, lifetime, rows[0]?.moment, age]
      return (await pool.query(remember, values)).rowCount === 1
    },

    // The mark comes first: it refuses what the deletion cannot see.
    async forget(owner, clientId) {
      await pool.query(mark, [owner])
      await pool.query(remove, [owner, clientId])
    },
  }
}
