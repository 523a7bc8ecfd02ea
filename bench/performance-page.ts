import type { Extras, Results } from './report'
import { atPart, median } from './figures'
import { writePart } from './page'
import { drawPlot, type Bar, type Panel } from './plot'
import type { Round } from './rounds'
import { servers } from './servers'
import { table } from './table'
import type { Traffic } from './measure/counting-proxy'
import type { Kept } from './measure/memory'
import type { Workload } from './story'

/** The columns of the page, in the words of a reader. A guard with JWTs stands in a sentence of its own. */
const columns = [
  ['clientCredentials', 'token of a client'],
  ['codeFlowWithPage', 'code flow with a page'],
  ['codeFlow', 'code flow, approved already'],
  ['refresh', 'refresh'],
  ['guard', 'guarded request'],
  ['introspection', 'introspection'],
] as const satisfies readonly (readonly [Workload, string])[]

const panels = ['clientCredentials', 'codeFlowWithPage', 'refresh', 'guard'] as const

// One row: the host of the suite decides by an option whether the page appears.
const sameServer: Readonly<Record<string, string>> = { 'suite, approved already': 'suite' }
const unguarded = 'suite, unguarded route'
const shownServers = servers.filter(
  ({ variant, name }) => variant === undefined && !/cache|JWT|jwt|application/.test(name),
)

/** Writes the figures and the plot of docs/reports/performance.md. */
export function writePerformancePage(about: string, results: Results, extras: Extras): void {
  writePart('figures', [about, ...operations(results), ...redis(extras)].join('\n\n'))
  drawPlot(panels.map((workload) => panelOf(results, workload)))
}

const titleOf = (workload: Workload) => columns.find(([name]) => name === workload)?.[1] ?? workload

function operations(results: Results): readonly string[] {
  const rows = rowsOf((server, workload) => {
    const rounds = results.figures.get(workload)?.get(server)
    if (rounds === undefined) return ''
    const [lower, middle, upper] = quartilesOf(rounds)
    return `${middle.toFixed(0)} (${lower.toFixed(0)}–${upper.toFixed(0)})`
  })
  return [
    'Processor time of the server for one operation, in µs: the median of the rounds and, in brackets, their quartiles.',
    table(['', ...columns.map(([, title]) => title)], rows),
    ...sentences(results),
  ]
}

function sentences({ figures }: Results): readonly string[] {
  const suite = (workload: Workload, figure: keyof Round, name = 'suite') =>
    median((figures.get(workload)?.get(name) ?? []).map((round) => round[figure]))
  const asked = ['clientCredentials', 'refresh', 'guard'] as const
  const answered = asked.map(
    (workload) =>
      `${titleOf(workload)} ${suite(workload, 'perSecond').toFixed(0)} a second (median ${suite(workload, 'median').toFixed(1)} ms, 99 % within ${suite(workload, 'p99').toFixed(1)} ms)`,
  )
  const jwt = (name: string) => suite('guardJwt', 'cpu', name).toFixed(0)
  return [
    `One core, 32 connections: ${answered.join(', ')}.`,
    `A guard of JWTs takes ${jwt('suite, JWT verified each time')} µs where it verifies a signature and ${jwt('suite, JWT remembered')} µs where it has verified the token before; express-oauth2-jwt-bearer takes ${jwt('express-oauth2-jwt-bearer')} µs each time.`,
  ]
}

function redis({ commands, memory }: Extras): readonly string[] {
  const rows = rowsOf((server, workload) => traffic(commands.get(server)?.get(workload))).map((row) =>
    row.concat(kept(memory.get(row[0] ?? '')?.get('clientCredentials'))),
  )
  return [
    '### Round trips to Redis',
    'Commands in round trips for one operation, and the bytes that one access token of a client takes in Redis.',
    table(['', ...columns.map(([, title]) => title), 'bytes of a token'], rows),
  ]
}

function rowsOf(cell: (server: string, workload: Workload) => string): readonly string[][] {
  const names = new Set(shownServers.map(({ name }) => sameServer[name] ?? name))
  return [...names].flatMap((name) => {
    const own = shownServers.filter((server) => name === (sameServer[server.name] ?? server.name))
    const cells = columns.map(([workload]) =>
      own.map((server) => cell(server.name, workload)).reduce((first, other) => first || other, ''),
    )
    return cells.every((text) => text === '') ? [] : [[name, ...cells]]
  })
}

function panelOf({ figures }: Results, workload: Workload): Panel {
  const bars = shownServers.flatMap(({ name, role }): readonly Bar[] => {
    if (name === unguarded) return []
    const rounds = figures.get(workload)?.get(name) ?? figures.get('codeFlow')?.get(name)
    const isOwn = figures.get(workload)?.has(name) === true
    // Of better-auth and others, which show no page here, the flow that they have.
    if (rounds === undefined || (!isOwn && (workload !== 'codeFlowWithPage' || role !== 'peer'))) return []
    return [{ name: isOwn ? name : `${name}, no page`, quartiles: quartilesOf(rounds), kind: role }]
  })
  return {
    title: `${titleOf(workload)}, µs`,
    bars: bars.toSorted((one, other) => one.quartiles[1] - other.quartiles[1]),
  }
}

function quartilesOf(rounds: readonly Round[]): readonly [number, number, number] {
  const times = rounds.map(({ cpu }) => cpu)
  return [atPart(times, 0.25), median(times), atPart(times, 0.75)]
}

const traffic = (counted: Traffic | undefined) =>
  counted === undefined ? '' : `${counted.commands.toFixed(0)} in ${counted.roundTrips.toFixed(0)}`
const kept = (one: Kept | undefined) => (one === undefined ? '' : one.bytes.toFixed(0))
