import { medianRatio } from './figures'
import type { Kept, Memory } from './measure/memory'
import type { Commands } from './measure/commands'
import type { Results } from './report'
import type { Round } from './rounds'
import { notGathered, onCreateServer, servers } from './servers'
import type { Workload } from './story'

/** What was set out to be reached, and what was. */
export interface Goal {
  readonly what: string
  readonly wanted: string
  readonly reached: string
  readonly isMet: boolean
}

const peers = servers.flatMap(({ role, variant, name }) =>
  role === 'peer' && variant === undefined ? [name] : [],
)
const againstPeers = [
  ['clientCredentials', 'suite'],
  ['codeFlow', 'suite, approved already'],
  ['codeFlowWithPage', 'suite'],
  ['refresh', 'suite'],
  ['guard', 'suite'],
  ['guardJwt', 'suite, JWT verified each time'],
  ['introspection', 'suite'],
] as const
const againstFloors = [
  ['clientCredentials', 'suite', 'Express', 1],
  ['refresh', 'suite', 'Express', 1],
  ['guard', 'suite', 'suite, unguarded route', 1.15],
] as const

const onNodesOwn = (name: string) => name

/** Each on Node's own server and on `createServer`, and never one against the other. */
export function goalsOf(results: Results): readonly Goal[] {
  return [...goalsWith(onNodesOwn, results), ...goalsWith(onCreateServer, results)]
}

/** @param on the name of the same server on what it is to be compared on. */
function goalsWith(on: (name: string) => string, results: Results): readonly Goal[] {
  const others = peers.map(on)
  return [
    ...againstPeers.flatMap(([workload, own]) => peersBeaten(results, workload, on(own), others)),
    ...againstFloors.flatMap(([workload, own, floor, most]) =>
      costsAtMost(results, workload, on(own), on(floor), most),
    ),
  ]
}

/** What one operation asks of Redis and leaves there does not depend on Node. */
export function redisGoalsOf(commands: Commands, memory: Memory): readonly Goal[] {
  return [
    commandsAtMost(commands, 'suite, approved already', 'codeFlow', 4),
    commandsAtMost(commands, 'suite', 'codeFlowWithPage', 4),
    commandsAtMost(commands, 'suite', 'refresh', 2),
    keptAtMost(memory.get('suite')?.get('codeFlow'), 'codeFlow', 700),
    keptAtMost(memory.get('suite')?.get('clientCredentials'), 'clientCredentials', 300),
  ].flatMap((goal) => goal ?? [])
}

/** How much faster the same server gets by one thing that every server can have. */
export interface Gift {
  readonly what: string
  readonly ratio: number
}

export function giftsOf(results: Results): readonly Gift[] {
  const gift = (what: string, workload: Workload, own: string, without: string): readonly Gift[] => {
    const ratio = cpuRatio(results, workload, without, own)
    return ratio === undefined ? [] : [{ what, ratio }]
  }
  const byCreateServer = (what: string, workload: Workload, name: string) =>
    gift(`createServer: ${what}`, workload, onCreateServer(name), name)
  const byGathering = (what: string, workload: Workload, name: string) =>
    gift(`gathering: ${what}`, workload, name, notGathered(name))
  return [
    ...byCreateServer('a bare route of Express', 'bareRoute', 'Express'),
    ...byCreateServer('an ordinary application', 'application', 'application'),
    ...byCreateServer('clientCredentials, Express', 'clientCredentials', 'Express'),
    ...byCreateServer('clientCredentials, suite', 'clientCredentials', 'suite'),
    ...byCreateServer('clientCredentials, oauth2orize', 'clientCredentials', 'oauth2orize'),
    ...byCreateServer('guard, suite', 'guard', 'suite'),
    ...byCreateServer('guard, oauth2orize', 'guard', 'oauth2orize'),
    ...byGathering('clientCredentials, node:http', 'clientCredentials', 'node:http'),
    ...byGathering('clientCredentials, Express', 'clientCredentials', 'Express'),
    ...byGathering('clientCredentials, oauth2orize', 'clientCredentials', 'oauth2orize'),
    ...byGathering('an ordinary application', 'application', 'application'),
    ...gift(
      'memory of verified tokens: guardJwt, suite',
      'guardJwt',
      'suite, JWT remembered',
      'suite, JWT verified each time',
    ),
  ]
}

type Figure = 'cpu' | 'perSecond'
const of = (rounds: readonly Round[], figure: Figure) => rounds.map((round) => round[figure])

function cpuRatio({ figures }: Results, workload: Workload, one: string, other: string): number | undefined {
  const [own, reference] = [figures.get(workload)?.get(one), figures.get(workload)?.get(other)]
  return own && reference && medianRatio(of(own, 'cpu'), of(reference, 'cpu'))
}

function costsAtMost(
  results: Results,
  workload: Workload,
  server: string,
  floor: string,
  most: number,
): readonly Goal[] {
  const ratio = cpuRatio(results, workload, server, floor)
  if (ratio === undefined) return []
  const what = `${workload}: CPU of ${server} against ${floor}`
  return [{ what, wanted: `at most ${most}`, reached: ratio.toFixed(2), isMet: ratio <= most }]
}

function peersBeaten(
  { figures }: Results,
  workload: Workload,
  server: string,
  others: readonly string[],
): readonly Goal[] {
  const all = figures.get(workload)
  const own = all?.get(server)
  if (all === undefined || own === undefined) return []
  const [best] = others
    .flatMap((peer) => {
      const rounds = all.get(peer)
      return rounds === undefined
        ? []
        : [{ peer, ratio: medianRatio(of(own, 'perSecond'), of(rounds, 'perSecond')) }]
    })
    .toSorted((a, b) => a.ratio - b.ratio)
  if (best === undefined) return []
  const what = `${workload}: throughput of ${server} against the best peer (${best.peer})`
  return [{ what, wanted: 'at least 1', reached: best.ratio.toFixed(2), isMet: best.ratio >= 1 }]
}

function commandsAtMost(
  commands: Commands,
  server: string,
  workload: Workload,
  most: number,
): Goal | undefined {
  const traffic = commands.get(server)?.get(workload)
  if (traffic === undefined) return undefined
  const what = `${workload}: Redis commands of ${server}`
  // The question for the role of the server goes out once a second, and belongs to no operation.
  const whole = Math.round(traffic.commands)
  return { what, wanted: `at most ${most}`, reached: `${whole}`, isMet: whole <= most }
}

function keptAtMost(one: Kept | undefined, workload: Workload, most: number): Goal | undefined {
  if (one === undefined) return undefined
  const isMet = one.bytes <= most && one.keys <= 1
  const reached = `${one.bytes.toFixed(0)} in ${one.keys.toFixed(0)} key`
  return { what: `${workload}: bytes in Redis of suite`, wanted: `at most ${most}, one key`, reached, isMet }
}
