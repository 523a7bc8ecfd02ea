// What one operation makes in one process: promises, timers and KiB of heap. Unlike times, these are the same on a busy machine.
// counting.ts counts them; connection and storage are those of `npm run cost`, and the generator's part is in the figures, too.
//
//   npm run counts                  a table; it needs neither a build nor the packages of this folder
//   npm run counts -- ours          these programs alone
//   npm run counts -- --json        for programs
//   BENCH_NODES=a npm run counts    on this binary of Node
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildTargetsFromSources } from './build'
import { runTargetsOn, startTarget } from './child'
import type { Counts } from './counting'
import { programsInProcess, rows, type Row } from './programs-in-process'

interface Counted extends Counts {
  readonly name: string
  readonly row: Row
}

// A young generation that is never full; and code that V8 compiles at once, not when another thread has time for it.
const flags = [
  '--expose-gc',
  '--max-semi-space-size=512',
  '--min-semi-space-size=512',
  '--no-concurrent-recompilation',
]
const programs = ['ours', 'ours, approved before', 'bare', 'bare, approved before']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
})

async function main(): Promise<void> {
  const [node = process.execPath] = (process.env['BENCH_NODES'] ?? process.execPath).split(',')
  runTargetsOn(node)
  const unknown = positionals.filter((name) => !programs.includes(name))
  if (unknown.length > 0) throw new Error(`Programs: "${programs.join('", "')}".`)
  const built = buildTargetsFromSources(['ours', 'bare'])
  process.on('exit', () => rmSync(built, { recursive: true, force: true }))
  const counted: Counted[] = []
  for (const name of positionals.length > 0 ? positionals : programs)
    counted.push(...(await countsOfProgram(name, built)))
  if (values.json) console.log(JSON.stringify(counted))
  else console.table(counted)
}

/** Each row in a process of its own: what V8 compiles for one depends on what ran before. */
async function countsOfProgram(name: string, built: string): Promise<readonly Counted[]> {
  const found = programsInProcess[name]
  if (found === undefined) throw new Error(`There is no ${name}.`)
  const counted: Counted[] = []
  for (const row of Object.keys(rows).filter(isRow)) {
    if (!rows[row].some((workload) => found.stories[workload] !== undefined)) continue
    const environment = { ...found.environment, BENCH_IN_PROCESS: name }
    const program = join(built, found.program)
    const target = await startTarget({ program, environment }, '', flags, 'anywhere')
    const { promises, timers, kibibytes } = await target.countInProcess({ row })
    await target.stop()
    counted.push({ name, row, promises, timers, kibibytes: Number(kibibytes.toFixed(1)) })
  }
  return counted
}

const isRow = (name: string): name is Row => Object.hasOwn(rows, name)

void main()
