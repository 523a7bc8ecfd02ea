import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** One row: what was tried, how often, what had to hold, and what was seen. */
export interface Row {
  readonly case: string
  readonly rounds: number
  readonly invariant: string
  readonly result: string
}

/**
 * Writes the table of one suite into its section of a page, between two marks, when the environment asks for
 * it: `RELIABILITY_REPORT=1`. So the page never changes in passing.
 *
 * @param command what repeats the suite.
 */
export function report(section: string, command: string, rows: readonly Row[], file: string): void {
  if (process.env['RELIABILITY_REPORT'] !== '1') return
  const cells = (row: Row): string => `| ${row.case} | ${row.rounds} | ${row.invariant} | ${row.result} |`
  const table = [
    `Written by \`${command}\`.`,
    '',
    '| case | rounds | what must hold | seen |',
    '| - | - | - | - |',
    ...rows.map(cells),
  ].join('\n')
  const page = withSection(existsSync(file) ? readFileSync(file, 'utf8') : '', section, table)
  writeFileSync(file, page)
  // As a program: Jest cannot load it as a library.
  execFileSync(process.execPath, [require.resolve('prettier/bin/prettier.cjs'), '--write', file])
}

/** The page with this text between the marks of a section, which is added at the end if it is not there. */
export function withSection(page: string, section: string, text: string): string {
  const [begin, end] = [`<!-- ${section} -->`, `<!-- /${section} -->`]
  const inner = `${begin}\n\n${text}\n\n${end}`
  const at = page.indexOf(begin)
  if (at < 0) return `${page}\n${inner}\n`
  return page.slice(0, at) + inner + page.slice(page.indexOf(end) + end.length)
}
