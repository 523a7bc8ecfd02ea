import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const page = join(__dirname, '..', 'docs', 'reports', 'performance.md')

/** Writes a part of docs/reports/performance.md, between the marks of that name; the rest of the page stays as it is. */
export function writePart(name: 'figures' | 'cost' | 'signed' | 'cache', text: string): void {
  const before = readFileSync(page, 'utf8')
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const [from, to] = [before.indexOf(begin), before.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/reports/performance.md has no marks ${begin} and ${end}.`)
  writeFileSync(page, `${before.slice(0, from + begin.length)}\n\n${text}\n\n${before.slice(to)}`)
  execFileSync(process.execPath, [require.resolve('prettier/bin/prettier.cjs'), '--write', page])
}
