import { refuseLoading } from '../../primitives/configuration-error'
import { isList, isRecord, isText } from '../../primitives/values'
import { namesOf, type ReadTables, type Statement } from './statements'

/** What `postgresStore` needs, as `Pool` of pg has it. */
export interface PostgresPool {
  /** Runs one prepared statement, in a transaction of its own. */
  query(statement: {
    readonly name: string
    readonly text: string
    readonly values: unknown[]
  }): Promise<{ readonly rows: readonly unknown[] }>
}

type Row = Readonly<Record<string, unknown>>
export type Word = string | number | Buffer | null
export type Ask = (statement: Statement, ...values: Word[]) => Promise<readonly Row[]>

export function asking(pool: PostgresPool, tables: ReadTables): Ask {
  // At a stricter isolation than READ COMMITTED, a statement that waited for a rival is refused, and has done nothing.
  const ask = async (attempts: number, query: Parameters<PostgresPool['query']>[0]): Promise<unknown> => {
    try {
      return await pool.query(query)
    } catch (error) {
      if (attempts > 1 && codeOf(error) === serializationFailure) return ask(attempts - 1, query)
      throw isWithoutTables(error) ? withoutTables(tables) : withoutValues(error)
    }
  }
  return async ({ name, text }, ...values) => {
    const reply = await ask(5, { name, text, values })
    if (isRecord(reply) && isList(reply['rows']) && reply['rows'].every(isRecord)) return reply['rows']
    throw new Error('The pool replied with something other than { rows }.')
  }
}

const serializationFailure = '40001'
const isWithoutTables = (error: unknown) => ['42P01', '42703'].includes(codeOf(error))

function withoutTables(tables: ReadTables): Error {
  const { records, counts } = namesOf(tables)
  const names = `PostgreSQL does not have the tables ${records} and ${counts}, or they have other columns`
  return new Error(`${names}: make them with "npx express-authorization-server migrate".`)
}

function codeOf(error: unknown): string {
  const code = isRecord(error) ? error['code'] : undefined
  return typeof code === 'string' && /^[A-Z\d_]{5,40}$/.test(code) ? code : ''
}

const isSqlState = (code: string) => /^(?:\d\w|F0|HV|P0|XX)[\dA-Z]{3}$/.test(code)
// These classes name roles, tables and settings. Others, such as 22, quote values.
const namesNoValue = /^(?:08|25|28|3D|3F|40|42|53|55|57|58)/
const isLost = (code: string) => ['26000', '42P05'].includes(code)
const ofPool =
  /^(?:Query read timeout|timeout expired|timeout exceeded when trying to connect|Connection terminated[a-z ]*|Cannot use a pool after calling end on the pool|The server does not support SSL connections|Client [a-z ]+ not queryable)$/

// pg puts rows and parameters on its errors, and in some messages.
export function withoutValues(error: unknown): Error & { readonly code?: string } {
  const code = codeOf(error)
  const message = isRecord(error) && isText(error['message']) ? error['message'] : ''
  return Object.assign(new Error(sentenceOf(code, message)), code !== '' && { code })
}

function sentenceOf(code: string, message: string): string {
  if (isLost(code))
    return `${message}. A pooler must keep prepared statements, as PgBouncer 1.21 does with max_prepared_statements.`
  if (code === '42501')
    return `${message}: grant SELECT, INSERT, UPDATE and DELETE on both tables to the role.`
  if (isSqlState(code)) return namesNoValue.test(code) ? message : `SQLSTATE ${code}`
  if (code !== '') return `The pool has no connection: ${code}`
  if (ofPool.test(message)) return message
  return 'The pool failed with an error whose message may quote a value.'
}

export function textIn(row: Row | undefined, column: string): string {
  const value = row?.[column]
  if (typeof value === 'string') return value
  throw new Error(`The pool replied with something other than text in the column ${column}.`)
}

export function wholeIn(row: Row | undefined, column: string): number {
  const number = Number(textIn(row, column))
  if (Number.isSafeInteger(number)) return number
  throw new Error(`The pool replied with something other than a whole number in the column ${column}.`)
}

export function bytesIn(row: Row | undefined, column: string): string {
  const value = row?.[column]
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
  throw new Error(`The pool replied with something other than bytes in the column ${column}.`)
}

// Host and port only, never a role or password.
export function describePool(pool: object): string {
  const { options }: { options?: unknown } = pool
  const settings = isRecord(options) ? options : {}
  const { host, port, connectionString } = settings
  if (isText(connectionString) && URL.canParse(connectionString)) {
    const url = new URL(connectionString)
    if (url.hostname !== '') return `PostgreSQL at ${url.hostname}:${url.port || '5432'}`
  }
  return isText(host) ? `PostgreSQL at ${host}:${Number(port ?? 5432)}` : 'PostgreSQL'
}

// Declarations name no optional package.
interface Pg {
  readonly Pool: new (settings: object) => PostgresPool & {
    query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Row[] }>
    on(event: 'error', listener: () => void): unknown
    end(): Promise<void>
  }
}

export function loadPg(subject: string, cure: string): Pg {
  try {
    return require('pg')
  } catch (cause) {
    return refuseLoading(cause, 'pg', subject, cure)
  }
}
