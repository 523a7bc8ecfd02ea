import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { median } from './figures'
import { goalsOf } from './goals'
import type { ColdStarts } from './measure/cold-start'
import type { Commands } from './measure/commands'
import type { InstalledSize } from './measure/installed-size'
import type { Traffic } from './measure/counting-proxy'
import type { Kept, Memory } from './measure/memory'
import type { Round } from './rounds'
import { workloads, type Workload } from './story'

/** Everything that one run found out. */
export interface Results {
  readonly figures: Map<Workload, ReadonlyMap<string, readonly Round[]>>
  readonly peers: readonly string[]
  readonly commands: Commands
  readonly memory: Memory
  readonly cold: ColdStarts | undefined
  readonly sizes: ReadonlyMap<string, InstalledSize>
}

const page = join(__dirname, '..', 'docs', 'performance.md')
const [begin, end] = ['<!-- figures -->', '<!-- /figures -->']

/** Prints the tables; a whole run also writes them into the page. */
export async function report(results: Results): Promise<void> {
  const text = [
    heading(),
    goals(results),
    ...workloads.map((name) => throughput(name, results)),
    ...rest(results),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
  console.log(text)
  if (results.cold === undefined) return
  const before = await readFile(page, 'utf8')
  const [from, to] = [before.indexOf(begin) + begin.length, before.indexOf(end)]
  await writeFile(page, `${before.slice(0, from)}\n\n${text}\n\n${before.slice(to)}`)
}

function heading(): string {
  const { length } = cpus()
  return `Run on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${length} cores, ${process.platform}.`
}

function goals(results: Results): string {
  return table(
    ['goal', 'wanted', 'reached', ''],
    goalsOf(results).map(({ what, wanted, reached, isMet }) => [
      what,
      wanted,
      reached,
      isMet ? 'met' : 'missed',
    ]),
  )
}

const of = (rounds: readonly Round[], figure: keyof Round): number =>
  median(rounds.map((round) => round[figure]))

function throughput(workload: Workload, { figures }: Results): string {
  const all = figures.get(workload)
  if (all === undefined) return ''
  const rows = [...all]
    .toSorted(([, a], [, b]) => of(a, 'cpu') - of(b, 'cpu'))
    .map(([name, rounds]) => [
      name,
      of(rounds, 'cpu').toFixed(0),
      of(rounds, 'perSecond').toFixed(0),
      of(rounds, 'median').toFixed(1),
      of(rounds, 'p99').toFixed(1),
      percent(of(rounds, 'serverBusy')),
      percent(of(rounds, 'generatorBusy')),
    ])
  const columns = [workload, 'CPU µs', 'a second', 'median ms', 'p99 ms', 'server busy', 'generator busy']
  return table(columns, rows)
}

function rest({ commands, memory, cold, sizes }: Results): readonly string[] {
  if (cold === undefined) return []
  const traffic = [...commands].map(([name, counted]) =>
    [name].concat(workloads.map((workload) => told(counted.get(workload)))),
  )
  const kept = [...memory].map(([name, one]) => [
    name,
    left(one.get('clientCredentials')),
    left(one.get('codeFlow')),
  ])
  const installed = [...sizes].map(([name, { megabytes, packages }]) => [
    name,
    megabytes.toFixed(1),
    `${packages}`,
  ])
  return [
    table(['Redis commands in round trips', ...workloads], traffic),
    table(['bytes in Redis, in keys', 'an access token', 'a code flow'], kept),
    table(['installed', 'MB', 'packages'], installed),
    `Cold start: ${cold.suite.toFixed(0)} ms with the suite, ${cold.bare.toFixed(0)} ms for Express and ioredis alone.`,
  ]
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

const told = (traffic: Traffic | undefined) =>
  traffic === undefined ? '' : `${traffic.commands.toFixed(0)} in ${traffic.roundTrips.toFixed(0)}`
const left = (kept: Kept | undefined) =>
  kept === undefined ? '' : `${kept.bytes.toFixed(0)} in ${kept.keys.toFixed(1)}`
const percent = (part: number) => `${(part * 100).toFixed(0)} %`

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n')
}
