import { createHash } from 'node:crypto'
import { type Fields, kind, optional, usual } from '../../primitives/schema'
import { markSeconds } from '../../store/store'

export interface PostgresTables {
  /** The schema of the tables. Default: the search path of the connection. */
  readonly schema?: string
  /** The table of the records; that of the counts has `_counts` behind. Default `oauth_records`. */
  readonly table?: string
}

const defaultTable = 'oauth_records'
// PostgreSQL cuts names at 63 bytes; the longest addition is `_counts_ends`.
const name = kind(
  (value): value is string => typeof value === 'string' && /^[\x20-\x7e]{1,50}$/.test(value),
  'must be a name of 1 to 50 characters of ASCII; the statements quote it.',
)
export const tableFields = {
  schema: optional(name),
  table: usual(defaultTable, name),
} satisfies Fields<PostgresTables>

const quoted = (word: string) => `"${word.replaceAll('"', '""')}"`

export function namesOf({ schema, table }: { readonly schema?: string | undefined; readonly table: string }) {
  const within = schema === undefined ? '' : `${quoted(schema)}.`
  return { records: within + quoted(table), counts: within + quoted(`${table}_counts`) }
}

export type ReadTables = Parameters<typeof namesOf>[0]

// A text of PostgreSQL holds no NUL. Other collations find letters equal.
export function tablesText(tables: ReadTables): string {
  const { records, counts } = namesOf(tables)
  const index = (what: string) => quoted(`${tables.table}${what}_ends`)
  return `create table if not exists ${records} (
  key text collate "C" primary key,
  version text collate "C" not null,
  value bytea not null,
  ends timestamptz
);
create index if not exists ${index('')} on ${records} (ends) where ends is not null;
create table if not exists ${counts} (
  key text collate "C" primary key,
  count bigint not null,
  ends timestamptz not null
) with (fillfactor = 70);
create index if not exists ${index('_counts')} on ${counts} (ends);
`
}

export interface Statement {
  // Holds a digest of the text: a connection prepares each name once.
  readonly name: string
  readonly text: string
}

const statement = (text: string): Statement => ({
  name: `oauth_${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`,
  text,
})

const inSeconds = (parameter: string) => `now() + ${parameter}::float8 * interval '1 second'`
const markEnd = `clock_timestamp() + interval '${markSeconds} seconds'`
const lives = '(ends is null or ends > now())'

// The rows are locked: they are still past their end.
const sweep = (table: string) => `with gone as (
    delete from ${table} where key = any(array(
      select key from ${table} where ends <= now() order by ends limit 1000 for update skip locked))
    returning 1)
  select count(*)::text as gone from gone`

export function statementsOn(tables: ReadTables) {
  const { records, counts } = namesOf(tables)
  return {
    read: statement(`select version, value from ${records} where key = $1 and version <> '' and ${lives}`),
    // As CreationDeadline takes it. The row of a rival may be younger than the snapshot: then the reply is null.
    create: statement(`with late as materialized (
        select clock, clock not between $5::float8 - ${markSeconds * 1000} and $5::float8 as late
        from (select floor(extract(epoch from clock_timestamp()) * 1000) as clock) as t),
      made as (
        insert into ${records} as r (key, version, value, ends)
        select $1::text, $2::text, $3::bytea, ${inSeconds('$4')} from late where not late
        on conflict (key) do update set version = excluded.version, value = excluded.value, ends = excluded.ends
        where r.ends <= now() or r.version = excluded.version
        returning 1),
      stored as (select version from ${records} where key = $1 and ${lives})
      select (case
        when exists (select from made) or (select version from stored) = $2 then clock
        when (select version from stored) = '' then -1
        when exists (select from stored) then 0
        when late then -clock end)::text as reply
      from late`),
    replace: statement(`update ${records} set version = $2, value = $3, ends = ${inSeconds('$4')}
      where key = $1 and version in ($2, $5) and version <> '' and ${lives} returning '1' as reply`),
    remove: statement(`insert into ${records} (key, version, value, ends) values ($1, '', '', ${markEnd})
      on conflict (key) do update set version = '', value = '', ends = ${markEnd}`),
    // The row is locked for the statement alone, not for a disk or a replica. A count below 0 means 0, and tells what
    // it was before.
    add: statement(`with brief as materialized (select set_config('synchronous_commit', 'off', true))
      insert into ${counts} as c (key, count, ends) select $1::text, $2::bigint, ${inSeconds('$3')} from brief
      on conflict (key) do update set
        count = excluded.count + case when c.ends > now() then greatest(c.count, 0) else 0 end,
        ends = case when c.ends > now() and c.count > 0 then c.ends else excluded.ends end
      returning count::text, ceil(extract(epoch from ends - now()))::text as left`),
    list: statement(`select substr(key, length($1::text) + 2) as id from ${records}
      where key >= $1 || ':' and key < $1 || ';' and version <> '' and ends is null`),
    sweepRecords: statement(sweep(records)),
    sweepCounts: statement(sweep(counts)),
    check: statement(`select pg_is_in_recovery()::text as standby,
        current_setting('synchronous_commit') as commit,
        floor(extract(epoch from clock_timestamp()) * 1000)::text as clock,
        (select count(*) from (select key, version, value, ends from ${records} limit 1) as r)
          + (select count(*) from (select key, count, ends from ${counts} limit 1) as c) as rows`),
  }
}
