import { ConfigurationError } from '../primitives/configuration-error'
import { readOptions } from '../primitives/schema'
import { namedStore, storeVariable } from '../stores/from/store-from'
import { describePool, loadPg, textIn, withoutValues } from '../stores/postgres/pool'
import {
  namesOf,
  type ReadTables,
  statementsOn,
  tableFields,
  tablesText,
} from '../stores/postgres/statements'
import { type Command, linesInFlags } from './command'
import { everywhere, ofStore, own } from './flags'
import { done, failed, type Result, shown } from './output'

const flags = { ...ofStore, ...everywhere, print: own.print }

export const migrateCommand: Command = {
  meaning: 'make the tables of PostgreSQL; where they are, or for another store, it changes nothing',
  flags,
  async run({ values, environment }) {
    const { store: url = environment[storeVariable] ?? '', print = false, json = false } = values
    try {
      const { postgres } = namedStore(url)
      // A deployment may run the command whatever its store is.
      if (postgres === undefined && url !== '')
        return done(
          json ? shown({ made: [] }, json) : 'This store makes what it needs by itself: nothing changed.',
        )
      const tables = readOptions('migrate', tableFields, postgres?.tables ?? {})
      if (postgres !== undefined && !print) return await migrate(postgres.url, tables, json)
      return done(tablesText(tables).trimEnd())
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      return failed(1, linesInFlags(error, flags))
    }
  },
}

const undefinedColumn = '42703'

// Two at a time wait for each other. Several statements in one text are one transaction.
const lock = `select pg_advisory_xact_lock(hashtext('express-authorization-server'));`

async function migrate(url: string, tables: ReadTables, json: boolean): Promise<Result> {
  const { Pool } = loadPg('migrate cannot connect:', 'run "npm install pg", or use the text of --print')
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 5000 })
  pool.on('error', () => {})
  const place = describePool({ options: { connectionString: url } })
  try {
    const names = Object.values(namesOf(tables))
    const missing = 'select name from unnest($1::text[]) as name where to_regclass(name) is null'
    const { rows } = await pool.query(missing, [names])
    if (rows.length > 0) await pool.query(lock + tablesText(tables))
    await pool.query(statementsOn(tables).check.text)
    const made = rows.map((row) => textIn(row, 'name'))
    const said =
      made.length === 0
        ? `${names.join(' and ')} are in ${place}: nothing changed.`
        : `Made ${made.join(' and ')} in ${place}.`
    return done(json ? shown({ place, made }, json) : said)
  } catch (error) {
    const { message, code } = withoutValues(error)
    const cure =
      code === undefinedColumn
        ? '. Another table has the name: choose one in the URL, as in ?table=oauth.'
        : ''
    return failed(1, [`${place}: ${message}${cure}`])
  } finally {
    await pool.end().catch(() => {})
  }
}
