import { medianRatio } from './figures'
import type { Results } from './report'
import type { Round } from './rounds'
import type { Workload } from './story'

/** What was set out to be reached, and what was. */
export interface Goal {
  readonly what: string
  readonly wanted: string
  readonly reached: string
  readonly isMet: boolean
}

const onCreateServer = 'suite on createServer'

export function goalsOf(results: Results): readonly Goal[] {
  const cpu = atMost(results)
  const rate = atLeast(results)
  const asked = commandsAtMost(results)
  const kept = memoryAtMost(results)
  return [
    cpu('clientCredentials', 'suite', 'Express', 0.8),
    rate('clientCredentials', 'suite', 1.5),
    cpu('clientCredentials', onCreateServer, 'node:http', 1.35),
    rate('clientCredentials', onCreateServer, 4),
    rate('codeFlow', 'suite, approved already', 1.7),
    rate('codeFlow', 'suite, approved already, on createServer', 3.5),
    rate('codeFlowWithPage', 'suite', 1.7),
    rate('codeFlowWithPage', onCreateServer, 3.5),
    rate('refresh', 'suite', 1.5),
    rate('refresh', onCreateServer, 4),
    cpu('guard', 'suite', 'suite, unguarded route', 1.1),
    cpu('guard', onCreateServer, 'suite on createServer, unguarded route', 1.15),
    rate('guard', onCreateServer, 2.5),
    rate('guardJwt', 'suite, JWT', 1.8),
    rate('guardJwt', 'suite, JWT on createServer', 5),
    asked('suite, approved already', 'codeFlow', 4),
    asked('suite', 'codeFlowWithPage', 4),
    asked('suite', 'refresh', 2),
    kept('suite', 'codeFlow', 700),
    kept('suite', 'clientCredentials', 300),
    coldStart(results, 1.15),
  ].flatMap((goal) => goal ?? [])
}

type Figure = 'cpu' | 'perSecond'
const of = (rounds: readonly Round[], figure: Figure) => rounds.map((round) => round[figure])

function atMost({ figures }: Results) {
  return (workload: Workload, server: string, floor: string, most: number): Goal | undefined => {
    const [own, reference] = [figures.get(workload)?.get(server), figures.get(workload)?.get(floor)]
    if (own === undefined || reference === undefined) return undefined
    const ratio = medianRatio(of(own, 'cpu'), of(reference, 'cpu'))
    const what = `${workload}: CPU of ${server} against ${floor}`
    return { what, wanted: `at most ${most}`, reached: ratio.toFixed(2), isMet: ratio <= most }
  }
}

function atLeast({ figures, peers }: Results) {
  return (workload: Workload, server: string, least: number): Goal | undefined => {
    const all = figures.get(workload)
    const own = all?.get(server)
    if (all === undefined || own === undefined) return undefined
    const ratios = peers
      .flatMap((peer) => {
        const rounds = all.get(peer)
        return rounds === undefined
          ? []
          : [{ peer, ratio: medianRatio(of(own, 'perSecond'), of(rounds, 'perSecond')) }]
      })
      .toSorted((a, b) => a.ratio - b.ratio)
    const [best] = ratios
    if (best === undefined) return undefined
    const what = `${workload}: throughput of ${server} against the best peer (${best.peer})`
    return { what, wanted: `at least ${least}`, reached: best.ratio.toFixed(2), isMet: best.ratio >= least }
  }
}

function commandsAtMost({ commands }: Results) {
  return (server: string, workload: Workload, most: number): Goal | undefined => {
    const traffic = commands.get(server)?.get(workload)
    if (traffic === undefined) return undefined
    const what = `${workload}: Redis commands of ${server}`
    return {
      what,
      wanted: `at most ${most}`,
      reached: `${traffic.commands}`,
      isMet: traffic.commands <= most,
    }
  }
}

function memoryAtMost({ memory }: Results) {
  return (server: string, workload: Workload, most: number): Goal | undefined => {
    const one = memory.get(server)?.get(workload)
    if (one === undefined) return undefined
    const isMet = one.bytes <= most && one.keys <= 1
    const reached = `${one.bytes.toFixed(0)} in ${one.keys.toFixed(0)} key`
    return {
      what: `${workload}: bytes in Redis of ${server}`,
      wanted: `at most ${most}, one key`,
      reached,
      isMet,
    }
  }
}

function coldStart({ cold }: Results, most: number): Goal | undefined {
  if (cold === undefined) return undefined
  const what = 'cold start against Express and ioredis alone'
  return { what, wanted: `at most ${most}`, reached: cold.ratio.toFixed(2), isMet: cold.ratio <= most }
}
