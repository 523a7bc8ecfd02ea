import type { ConfigurationIssue } from '../primitives/configuration-error'

export const program = 'express-authorization-server'

export interface Result {
  // See the end of the usage text.
  readonly status: 0 | 1 | 2
  readonly output: string
  // For people. Never a credential.
  readonly remarks: string
}

export const done = (output: string, remarks = ''): Result => ({ status: 0, output, remarks })

export const failed = (status: 1 | 2, lines: readonly string[], output = ''): Result => ({
  status,
  output,
  remarks: lines.map(printable).join('\n'),
})

export const lineOf = ({ path, message }: ConfigurationIssue): string => `  - ${path} ${message}`

// What controls a terminal (C0 and C1), and what reorders or hides text.
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

export const printable = (text: string): string =>
  text.replaceAll(unprintable, (character) => {
    const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
    return units.map((unit) => `\\u${unit}`).join('')
  })

export type Fields = Readonly<Record<string, unknown>>

export function shown(found: Fields | readonly Fields[], json: boolean, ifEmpty = ''): string {
  if (json) return JSON.stringify(found, undefined, 2).split('\n').map(printable).join('\n')
  if (!isList(found)) {
    const given = Object.entries(found).filter(([, value]) => value !== undefined && cell(value) !== '')
    return aligned(given.map(([name, value]) => [name, cell(value)]))
  }
  const names = Object.keys(found[0] ?? {})
  const rows = found.map((row) => names.map((name) => cell(row[name])))
  return found.length === 0 ? ifEmpty : aligned([names, ...rows])
}

const isList = (found: Fields | readonly Fields[]): found is readonly Fields[] => Array.isArray(found)

function cell(value: unknown): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(cell).join(', ')
  return printable(typeof value === 'string' ? value : JSON.stringify(value)) || '-'
}

export function aligned(rows: readonly (readonly string[])[]): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => lengthOf(row[column] ?? '')))
  const widths = (rows[0] ?? []).map((_, column) => widthOf(column))
  const padded = (text: string, column: number) => text + ' '.repeat((widths[column] ?? 0) - lengthOf(text))
  return rows.map((row) => row.map(padded).join('  ').trimEnd()).join('\n')
}

const lengthOf = (text: string): number => Array.from(text).length
