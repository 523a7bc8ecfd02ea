import { cpus } from 'node:os'
import type { Extent } from './extent'
import { median, quartilesOf } from './figures'
import { giftsOf, goalsOf, onNodesOwn, type Ratio } from './goals'
import type { ColdStarts } from './measure/cold-start'
import type { Commands } from './measure/commands'
import type { Traffic } from './measure/counting-proxy'
import type { Kept, Memory } from './measure/memory'
import type { Round } from './rounds'
import { onCreateServer, servers } from './servers'
import { workloads, type Workload } from './story'
import { table } from './table'

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
}

/** Prints the tables, those of operations with the figures of the newest Node. */
export function report(extent: Extent, results: readonly Results[], extras: Extras | undefined): void {
  const newestFirst = sortedByNode(results)
  const [newest] = newestFirst
  const text = [
    heading(extent, newestFirst),
    ...(newest === undefined ? [] : ofOperations(newest)),
    ...beside(newestFirst),
    ...(extras === undefined ? [] : ofRedis(extras)),
  ].join('\n\n')
  console.log(text)
}

/** The newest Node first. */
export const sortedByNode = (results: readonly Results[]) =>
  results.toSorted((one, other) => majorOf(other) - majorOf(one))

function heading({ name, starts, rounds }: Extent, results: readonly Results[]): string {
  const date = new Date().toISOString().slice(0, 10)
  const times = starts === 1 ? 'once' : `${starts} times`
  const nodes = results.map(({ node }) => node).join(', ')
  return `A ${name} run on ${date}: ${cpus().length} cores, ${process.platform}; the servers on Node ${nodes}, the generator on ${process.versions.node}. Each server was started ${times}, with ${rounds === 1 ? 'one round' : `${rounds} rounds`} each time.`
}

const majorOf = ({ node }: Results): number => Number.parseInt(node, 10)

// A bare route and an ordinary application only show what `createServer` gives.
const asked = workloads.filter((name) => name !== 'bareRoute' && name !== 'application')

// The others show what `createServer` and gathering give, which has a table of its own.
const plain = servers.filter(({ variant }) => variant === undefined)

const of = (rounds: readonly Round[], figure: keyof Round): number =>
  median(rounds.map((round) => round[figure]))

function ofOperations(results: Results): readonly string[] {
  const rows = plain.flatMap(({ name }) => {
    const cells = asked.map((workload) => cost(results.figures.get(workload)?.get(name)))
    return cells.every((cell) => cell === '') ? [] : [[name, ...cells]]
  })
  const latencies = plain.flatMap(({ role, name }) =>
    role !== 'ours'
      ? []
      : asked.flatMap((workload) => {
          const rounds = results.figures.get(workload)?.get(name)
          return rounds === undefined
            ? []
            : [
                [
                  name,
                  workload,
                  of(rounds, 'perSecond').toFixed(0),
                  of(rounds, 'median').toFixed(1),
                  of(rounds, 'p99').toFixed(1),
                ],
              ]
        }),
  )
  return [
    `### What an operation costs on Node ${majorOf(results)}`,
    'Processor time of the server in µs: the median of the rounds and, in brackets, their quartiles.',
    table(['', ...asked], rows),
    'Operations a second, and how long a request takes in ms, while 32 connections ask one core:',
    table(['', 'operation', 'a second', 'median', 'p99'], latencies),
  ]
}

function cost(rounds: readonly Round[] | undefined): string {
  if (rounds === undefined) return ''
  const [lower, middle, upper] = quartilesOf(rounds.map(({ cpu }) => cpu)).map((time) => time.toFixed(0))
  return `${middle} (${lower}–${upper})`
}

function beside(results: readonly Results[]): readonly string[] {
  const goals = results.flatMap((one) => [
    { title: `Node ${majorOf(one)}`, found: goalsOf(one, onNodesOwn) },
    { title: 'on `createServer`', found: goalsOf(one, onCreateServer) },
  ])
  const gifts = results.map((one) => ({ title: `Node ${majorOf(one)}`, found: giftsOf(one) }))
  return [
    '### The suite beside the fastest peer and the floors',
    'Operations a second as a part of those of the fastest peer, and processor time as a multiple of that of the floor. Both sides run on Node’s own server, or both on `createServer`.',
    ...ratioTable('wanted of the suite', goals),
    '### What every server can have',
    'How many times the processor time it saves: 2 is half the time, 1 is no difference. None of it is a lead of the suite.',
    ...ratioTable('what', gifts),
    ...results.flatMap(coldStart),
  ]
}

interface Column {
  readonly title: string
  readonly found: readonly Ratio[]
}

function ratioTable(title: string, columns: readonly Column[]): readonly string[] {
  const whats = new Set(columns.flatMap(({ found }) => found.map(({ what }) => what)))
  if (whats.size === 0) return []
  const rows = [...whats].map((what) =>
    [what].concat(columns.map(({ found }) => told(found.find((one) => one.what === what)))),
  )
  return [table([title, ...columns.map((column) => column.title)], rows)]
}

const told = (one: Ratio | undefined): string => {
  if (one === undefined) return ''
  return one.beside === undefined ? one.ratio.toFixed(2) : `${one.ratio.toFixed(2)} (${one.beside})`
}

function coldStart({ node, cold }: Results): readonly string[] {
  if (cold === undefined) return []
  const [suite, bare] = [cold.suite, cold.bare].map((milliseconds) => milliseconds.toFixed(0))
  return [`Cold start on Node ${node}: ${suite} ms with the suite, ${bare} ms for Express and ioredis alone.`]
}

function ofRedis({ commands, memory }: Extras): readonly string[] {
  // A guard of JWTs asks Redis nothing.
  const ofRedisAsked = asked.filter((name) => name !== 'guardJwt')
  const rows = [...commands].flatMap(([name, counted]) => {
    const cells = [
      ...ofRedisAsked.map((workload) => traffic(counted.get(workload))),
      left(memory.get(name)?.get('clientCredentials')),
      left(memory.get(name)?.get('codeFlow')),
    ]
    return cells.every((cell) => cell === '') ? [] : [[name, ...cells]]
  })
  return [
    '### What an operation asks of Redis, and leaves there',
    'Commands in round trips; bytes in keys.',
    table(['', ...ofRedisAsked, 'bytes of an access token', 'bytes of a code flow'], rows),
  ]
}

const traffic = (counted: Traffic | undefined) =>
  counted === undefined ? '' : `${counted.commands.toFixed(0)} in ${counted.roundTrips.toFixed(0)}`
const left = (kept: Kept | undefined) =>
  kept === undefined ? '' : `${kept.bytes.toFixed(0)} in ${kept.keys.toFixed(0)}`
