import type { QueryResult } from 'pg'

/** Whether a statement wrote its row. Taken for no row, trouble would look like a code that was redeemed. */
export function isWritten({ rowCount }: QueryResult): boolean {
  if (rowCount === 0 || rowCount === 1) return rowCount === 1
  throw new Error('The database did not tell how many rows were written.')
}

/** A statement that deletes up to a thousand rows that have expired, and leaves those that others write. */
export const sweepOf = (table: string, key: string): string => `
delete from ${table} where (${key}) in (
  select ${key} from ${table} where expires_at <= now() limit 1000 for update skip locked)`
