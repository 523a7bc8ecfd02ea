import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withSection } from '../page-table'
import { textOf, type Table } from './table'

const page = join(__dirname, '../../docs/reports/scale.md')

/** Writes tables between their marks in docs/reports/scale.md; the rest of the page stays as it is. */
export function write(tables: readonly Table[], context: string): void {
  const text = tables.reduce(
    (written, table) => withSection(written, table.name, `${context}\n\n${textOf(table)}`),
    readFileSync(page, 'utf8'),
  )
  writeFileSync(page, text)
  execFileSync(process.execPath, [require.resolve('prettier/bin/prettier.cjs'), '--write', page])
}
