import { cpus } from 'node:os'
import type { Extent } from './extent'
import { median } from './figures'
import { giftsOf, goalsOf, redisGoalsOf, type Goal } from './goals'
import type { ColdStarts } from './measure/cold-start'
import type { Commands } from './measure/commands'
import type { InstalledSize } from './measure/installed-size'
import type { Traffic } from './measure/counting-proxy'
import type { Kept, Memory } from './measure/memory'
import { writePart } from './page'
import type { Round } from './rounds'
import { workloads, type Workload } from './story'

/** Everything that one Node's part of a run found out. */
export interface Results {
  /** Its version. */
  readonly node: string
  readonly figures: Map<Workload, ReadonlyMap<string, readonly Round[]>>
  readonly cold: ColdStarts | undefined
}

/** What a whole run finds out once, because it does not depend on Node. */
export interface Extras {
  readonly commands: Commands
  readonly memory: Memory
  readonly sizes: ReadonlyMap<string, InstalledSize>
}

/** Prints the tables; a whole run that is not tiny also writes them into the page. */
export function report(extent: Extent, results: readonly Results[], extras: Extras | undefined): void {
  const text = [
    heading(extent),
    ...results.flatMap((one) => ofNode(one)),
    ...(extras === undefined ? [] : ofRedis(extras)),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
  console.log(text)
  if (extras === undefined || extent.name === 'tiny') return
  writePart('figures', text)
}

function heading({ name, starts, rounds, isNotGatheredToo }: Extent): string {
  const date = new Date().toISOString().slice(0, 10)
  const times = starts === 1 ? 'once' : `${starts} times`
  const machine = `${cpus().length} cores, ${process.platform}`
  const alone = isNotGatheredToo
    ? ''
    : ' Servers whose commands go out one by one are measured by a full run only.'
  return `A ${name} run on ${date}, ${machine}. Each server was started ${times}, with ${rounds === 1 ? 'one round' : `${rounds} rounds`} each time. The generator ran on Node ${process.versions.node} for all.${alone}`
}

function ofNode(results: Results): readonly string[] {
  const major = results.node.split('.')[0]
  const goals = goalsOf(results)
  const gifts = giftsOf(results)
  return [
    `### Node ${major}`,
    `The servers ran on Node ${results.node}.`,
    ...(goals.length === 0
      ? []
      : [
          'The suite held against the fastest peer and the floors. Both sides of a ratio run on Node’s own server, or both on `createServer`, and both gather their commands to Redis.',
          goalTable(goals),
        ]),
    ...(gifts.length === 0
      ? []
      : [
          'What every server can have, and how many times the processor time it saves: 2 is half the time, 1 is no difference. None of it is a lead of the suite.',
          table(
            ['what', 'times'],
            gifts.map(({ what, ratio }) => [what, ratio.toFixed(2)]),
          ),
        ]),
    ...workloads.map((name) => throughput(name, results)),
    coldStart(results),
  ]
}

function goalTable(goals: readonly Goal[]): string {
  return table(
    ['goal', 'wanted', 'reached', ''],
    goals.map(({ what, wanted, reached, isMet }) => [what, wanted, reached, isMet ? 'met' : 'missed']),
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

function coldStart({ cold }: Results): string {
  if (cold === undefined) return ''
  const [suite, bare] = [cold.suite, cold.bare].map((milliseconds) => milliseconds.toFixed(0))
  return `Cold start: ${suite} ms with the suite, ${bare} ms for Express and ioredis alone, ${cold.ratio.toFixed(2)} times that.`
}

function ofRedis({ commands, memory, sizes }: Extras): readonly string[] {
  const traffic = [...commands].map(([name, counted]) =>
    [name].concat(workloads.map((workload) => told(counted.get(workload)))),
  )
  const kept = [...memory].flatMap(([name, one]) =>
    one.size === 0 ? [] : [[name, left(one.get('clientCredentials')), left(one.get('codeFlow'))]],
  )
  const installed = [...sizes].map(([name, { megabytes, packages }]) => [
    name,
    megabytes.toFixed(1),
    `${packages}`,
  ])
  return [
    '### On every Node',
    'What one operation asks of Redis and leaves there, and what each package brings with it.',
    goalTable(redisGoalsOf(commands, memory)),
    table(['Redis commands in round trips', ...workloads], traffic),
    table(['bytes in Redis, in keys', 'an access token', 'a code flow'], kept),
    table(['installed', 'MB', 'packages'], installed),
  ]
}

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

const told = (traffic: Traffic | undefined) =>
  traffic === undefined ? '' : `${traffic.commands.toFixed(0)} in ${traffic.roundTrips.toFixed(0)}`
const left = (kept: Kept | undefined) =>
  kept === undefined ? '' : `${kept.bytes.toFixed(0)} in ${kept.keys.toFixed(1)}`
const percent = (part: number) => `${(part * 100).toFixed(0)} %`

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)].join('\n')
}
