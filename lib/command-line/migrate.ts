import type * as Pg from 'pg'
import { ConfigurationError, type Loaded, optionalPackage } from '../primitives/configuration-error'
import { readOptions } from '../primitives/schema'
import { describePool, withoutValues } from '../stores/postgres/pool'
import {
  namesOf,
  type ReadTables,
  statementsOn,
  tableFields,
  tablesText,
} from '../stores/postgres/statements'
import { type Command, inFlags } from './command'
import { everywhere, ofTables } from './flags'
import { failed, lineOf, type Result, shown } from './output'

const flags = { ...ofTables, ...everywhere }

export const migrateCommand: Command = {
  meaning: 'make the tables of postgresStore({ pool }); where they are, it changes nothing',
  flags,
  async run({ values, environment }) {
    const { postgres: url = environment['DATABASE_URL'] ?? '', schema, table, print, json = false } = values
    try {
      const tables = readOptions('migrate', tableFields, { schema, table })
      if (print === true) return { status: 0, output: tablesText(tables).trimEnd(), remarks: '' }
      const mistake = flags.postgres.mistakeIn(url)
      if (mistake !== undefined) return failed(2, [lineOf({ path: '--postgres', message: mistake })])
      return await migrate(url, tables, json)
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      return failed(
        1,
        error.issues.map((issue) => lineOf(inFlags(issue, flags))),
      )
    }
  },
}

const undefinedColumn = '42703'

// Two that run at the same time wait for each other. Several statements in one text are one transaction.
const lock = `select pg_advisory_xact_lock(hashtext('express-authorization-server'));`

async function migrate(url: string, tables: ReadTables, json: boolean): Promise<Result> {
  const { Client } = loadPg()
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  const place = describePool({ options: { connectionString: url } })
  try {
    await client.connect()
    const names = Object.values(namesOf(tables))
    const missing = 'select name from unnest($1::text[]) as name where to_regclass(name) is null'
    const { rows } = await client.query<{ name: string }>(missing, [names])
    if (rows.length > 0) await client.query(lock + tablesText(tables))
    await client.query(statementsOn(tables).check.text)
    const made = rows.map(({ name }) => name)
    const said =
      made.length === 0
        ? `${names.join(' and ')} are in ${place}: nothing changed.`
        : `Made ${made.join(' and ')} in ${place}.`
    return { status: 0, output: json ? shown({ place, made }, json) : said, remarks: '' }
  } catch (error) {
    const { message, code } = withoutValues(error)
    const cure = code === undefinedColumn ? '. Another table has the name: choose one with --table.' : ''
    return failed(1, [`${place}: ${message}${cure}`])
  } finally {
    await client.end().catch(() => {})
  }
}

function loadPg(): typeof Pg {
  return optionalPackage(
    'pg',
    (): Loaded<typeof Pg> => {
      try {
        return { found: require('pg') }
      } catch (cause) {
        return { cause }
      }
    },
    { subject: 'migrate cannot connect:', cure: 'run "npm install pg", or use the text of --print' },
  )
}
