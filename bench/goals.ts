import { medianRatio } from './figures'
import type { Results } from './report'
import type { Round } from './rounds'
import { notGathered, onCreateServer, servers } from './servers'
import type { Workload } from './story'

/** How the suite, or one thing that every server can have, compares with what it stands beside. */
export interface Ratio {
  readonly what: string
  readonly ratio: number
  /** Whom it was held against, where that is not the same in every run. */
  readonly beside?: string
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

export const onNodesOwn = (name: string) => name

/**
 * What was set out to be reached, and what was.
 *
 * @param on the name of the same server on what it is to be compared on: Node's own server or `createServer`, and never
 *   one against the other.
 */
export function goalsOf(results: Results, on: (name: string) => string): readonly Ratio[] {
  return [
    ...againstPeers.flatMap(([workload, own]) => besideFastest(results, workload, own, on)),
    ...againstFloors.flatMap(([workload, own, floor, most]) => {
      const ratio = cpuRatio(results, workload, on(own), on(floor))
      const what = `${workload}: at most ${most} times the processor time of ${floor}`
      return ratio === undefined ? [] : [{ what, ratio }]
    }),
  ]
}

/** How much faster the same server gets by one thing that every server can have. */
export function giftsOf(results: Results): readonly Ratio[] {
  const gift = (what: string, workload: Workload, own: string, without: string): readonly Ratio[] => {
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

function besideFastest(
  { figures }: Results,
  workload: Workload,
  own: string,
  on: (name: string) => string,
): readonly Ratio[] {
  const all = figures.get(workload)
  const ours = all?.get(on(own))
  if (all === undefined || ours === undefined) return []
  const what = `${workload}: as many a second as the fastest peer`
  return peers
    .flatMap((beside) => {
      const rounds = all.get(on(beside))
      return rounds === undefined
        ? []
        : [{ what, beside, ratio: medianRatio(of(ours, 'perSecond'), of(rounds, 'perSecond')) }]
    })
    .toSorted((a, b) => a.ratio - b.ratio)
    .slice(0, 1)
}
