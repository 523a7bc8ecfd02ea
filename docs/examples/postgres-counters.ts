import type { Counters } from 'express-authorization-server'
import type { Pool } from 'pg'
import { isWritten, sweepOf } from './postgres-rows'

/** For your migrations: a row for each count and each single use. */
export const countersSchema = `
create table if not exists oauth_counters (
  key bytea primary key,
  count integer not null,
  expires_at timestamptz not null
);
create index if not exists oauth_counters_expires_at on oauth_counters (expires_at);
`

/** Deletes what has expired. */
export const countersSweeps = [sweepOf('oauth_counters', 'key')]

const add = `
insert into oauth_counters as stored (key, count, expires_at)
values ($1, greatest($2::int, 0), now() + $3::float8 * interval '1 second')
on conflict (key) do update set
  count = greatest($2::int + case when stored.expires_at > now() then stored.count else 0 end, 0),
  expires_at = case when stored.expires_at > now() and stored.count > 0
    then stored.expires_at else excluded.expires_at end
returning count, ceil(extract(epoch from expires_at - now()))::int as seconds`

const spend = `
insert into oauth_counters as stored (key, count, expires_at)
values ($1, 1, now() + $2::float8 * interval '1 second')
on conflict (key) do update set expires_at = excluded.expires_at where stored.expires_at <= now()`

/** Counts of failed attempts and single uses, in PostgreSQL. */
export function postgresCounters(pool: Pool): Counters {
  return {
    async add(key, amount, seconds) {
      const values = [Buffer.from(`count:${key}`), amount, seconds]
      const { rows } = await pool.query<Record<string, unknown>>(add, values)
      const { count, seconds: left } = rows[0] ?? {}
      // As bigint or numeric they would come as texts, with which one cannot count.
      if (typeof count !== 'number' || typeof left !== 'number')
        throw new Error('The addition must return a count and seconds as integers.')
      return { count, secondsLeft: count === 0 ? 0 : Math.min(left, seconds) }
    },

    async useOnce(key, seconds) {
      return isWritten(await pool.query(spend, [Buffer.from(`spent:${key}`), seconds]))
    },
  }
}
