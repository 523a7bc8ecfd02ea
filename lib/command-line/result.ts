import type { ConfigurationIssue } from '../protocol/configuration'

/** What the process leaves behind. */
export interface Result {
  /** 0 done, 1 refused or failed, 2 wrong usage; of `lint`: 0 nothing, 1 findings, 2 it cannot be looked at. */
  readonly status: 0 | 1 | 2
  readonly output: string
  /** For people: notes and what went wrong. Never a credential. */
  readonly remarks: string
}

export function failed(status: 1 | 2, lines: readonly string[]): Result {
  return { status, output: '', remarks: lines.map(printable).join('\n') }
}

/** Wrong usage, with every mistake. */
export function misunderstood(issues: readonly ConfigurationIssue[]): Result {
  return failed(2, ['This cannot be understood:', ...issues.map(lineOf), 'See --help.'])
}

export const lineOf = ({ path, message }: ConfigurationIssue): string => `  - ${path} ${message}`

type Fields = Readonly<Record<string, unknown>>

// Controls of a terminal, in both ranges, and what reorders or hides text on it.
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text as a terminal may see it: what would steer it is written as an escape. */
export function printable(text: string): string {
  return text.replaceAll(unprintable, escaped)
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}

/** Values as JSON, with the characters escaped that would steer a terminal. */
export function jsonText(found: unknown): string {
  return JSON.stringify(found, undefined, 2).split('\n').map(printable).join('\n')
}

/** One thing as lines of name and value, a list as a table; what is not there takes no place. */
export function tableText(found: Fields | readonly Fields[]): string {
  if (!isList(found))
    return aligned(
      Object.entries(found)
        .filter(([, value]) => isGiven(value))
        .map(([name, value]) => [name, cell(value)]),
    )
  const [first] = found
  if (first === undefined) return 'No client is registered here.'
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
