import type { ConfigurationIssue } from '../primitives/options-reader'

export interface Result {
  /**
   * 0: done. 1: refused or failed. 2: wrong usage. For `lint`, 0: no findings. 1: findings. 2: wrong usage,
   * or the configuration cannot be checked, or no server could start.
   */
  readonly status: 0 | 1 | 2
  /** For standard output. */
  readonly output: string
  /** For standard error, for people. Never a credential. */
  readonly remarks: string
}

export function failed(status: 1 | 2, lines: readonly string[]): Result {
  return { status, output: '', remarks: lines.map(printable).join('\n') }
}

export function misunderstood(issues: readonly ConfigurationIssue[]): Result {
  return failed(2, ['The command line has mistakes:', ...issues.map(lineOf), 'See --help.'])
}

export const lineOf = ({ path, message }: ConfigurationIssue): string => `  - ${path} ${message}`

type Fields = Readonly<Record<string, unknown>>

// Control characters of a terminal (C0 and C1), and characters that reorder or hide text.
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Escapes what could control a terminal. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, escaped)
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

export function jsonText(found: unknown): string {
  return JSON.stringify(found, undefined, 2).split('\n').map(printable).join('\n')
}

export function tableText(
  found: Fields | readonly Fields[],
  ifEmpty = 'No client is registered here.',
): string {
  if (!isList(found))
    return aligned(
      Object.entries(found)
        .filter(([, value]) => isGiven(value))
        .map(([name, value]) => [name, cell(value)]),
    )
  const [first] = found
  if (first === undefined) return ifEmpty
  const names = Object.keys(first)
  return aligned([names, ...found.map((row) => names.map((name) => cell(row[name])))])
}

const isList = (found: Fields | readonly Fields[]): found is readonly Fields[] => Array.isArray(found)
const isGiven = (value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0)

function cell(value: unknown): string {
  if (value === undefined || value === null) return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.map(cell).join(', ')
  return printable(typeof value === 'string' ? value : JSON.stringify(value)) || '-'
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  return rows
    .map((row) =>
      row
        .map((text, column) => text + ' '.repeat((widths[column] ?? 0) - widthOf(text)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const widthOf = (text: string): number => Array.from(text).length
