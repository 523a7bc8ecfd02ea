import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { report, type Row } from '../../../support/reliability/report'
import { plansFrom, titleOf, topologies, type FaultName, type RunPlan, type Topology } from './plan'
import type { Outcome, Planted } from './run'
import { CampaignRunner } from './campaign-runner'

const usage = `npm run test:campaign -- [options]

  --runs N        how many runs; default 20
  --seed N        the seed of the first run, and each next run has the next one; default: any
  --topology T    single, replicated, cluster or all, which takes them in turn by the seed; default all
  --fault TEXT    passes over seeds whose plans have no fault with this text in its name
  --defect NAME   plants a mistake into the store of the processes (test/support/stores)
`

const options = {
  runs: { type: 'string', default: '20' },
  seed: { type: 'string' },
  topology: { type: 'string', default: 'all' },
  fault: { type: 'string', default: '' },
  defect: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

/** The random campaign: `npm run test:campaign`. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options })
  const runs = Number(values.runs)
  const seed = values.seed === undefined ? randomInt(1_000_000) : Number(values.seed)
  const topology = topologies.find((each) => each === values.topology)
  const isKnown = topology !== undefined || values.topology === 'all'
  if (values.help || !isKnown || !Number.isSafeInteger(runs) || !Number.isSafeInteger(seed)) {
    process.stdout.write(usage)
    process.exitCode = values.help ? 0 : 2
    return
  }
  const planted = values.defect === undefined ? {} : { defect: values.defect }
  const plans = plansFrom({ seed, runs, topology, fault: values.fault })
  const tally = await playAll(plans, planted)
  process.stdout.write(tally.summary())
  report('campaign', `npm run test:campaign -- --runs ${runs} --seed ${seed}`, tally.rows())
  if (!tally.isWhole) process.exitCode = 1
}

async function playAll(plans: Iterable<RunPlan>, planted: Planted) {
  const runner = new CampaignRunner()
  const tally = new Tally()
  try {
    for (const plan of plans) {
      process.stdout.write(`${titleOf(plan)}\n`)
      const begun = performance.now()
      const outcome = await playOne(runner, plan, planted)
      tally.add(outcome, (performance.now() - begun) / 1000)
    }
  } finally {
    await runner.close()
  }
  return tally
}

/** A run that cannot be brought to its end has shown something, too. */
async function playOne(runner: CampaignRunner, plan: RunPlan, planted: Planted): Promise<Outcome> {
  try {
    return await runner.play(plan, { planted })
  } catch (error) {
    const broken = [
      `the run did not come to its end: ${error instanceof Error ? error.stack : String(error)}`,
    ]
    return { plan, requests: 0, troubled: 0, late: 0, broken }
  }
}

/** The first of each kind. */
function differing(broken: readonly string[]): readonly string[] {
  const kinds = broken.map((each) => each.split('\n')[0]?.replace(/ \(.*| of .*/, ''))
  return broken.filter((_, index) => kinds.indexOf(kinds[index]) === index)
}

interface Sum {
  readonly runs: number
  readonly requests: number
  readonly troubled: number
  readonly late: number
  readonly broken: number
  readonly faults: readonly FaultName[]
}

const nothing: Sum = { runs: 0, requests: 0, troubled: 0, late: 0, broken: 0, faults: [] }

const titles: Readonly<Record<Topology, string>> = {
  single: 'one Redis',
  replicated: 'a master and a replica, writes wait for it',
  cluster: 'a cluster of 3 masters and 3 replicas',
}

/** What all runs have shown together. */
class Tally {
  private readonly byTopology = new Map<Topology, Sum>()
  private readonly seeds: string[] = []

  get isWhole(): boolean {
    return this.seeds.length === 0
  }

  add({ plan, requests, troubled, late, broken }: Outcome, seconds: number): void {
    const { topology, seed, faults } = plan
    const before = this.byTopology.get(topology) ?? nothing
    this.byTopology.set(topology, {
      runs: before.runs + 1,
      requests: before.requests + requests,
      troubled: before.troubled + troubled,
      late: before.late + late,
      broken: before.broken + broken.length,
      faults: [...before.faults, ...faults.map(({ name }) => name)],
    })
    if (broken.length > 0) this.seeds.push(`--seed ${seed} --topology ${topology}`)
    const held = broken.length === 0 ? 'held' : `BROKEN ${broken.length} times`
    process.stdout.write(`  ${resultOf({ requests, troubled, late })}, ${seconds.toFixed(1)} s: ${held}\n`)
    for (const each of differing(broken)) process.stdout.write(`  ${each}\n`)
  }

  summary(): string {
    const topologyLines = [...this.byTopology].map(
      ([topology, sum]) => `${titles[topology]}: ${sum.runs} runs, ${resultOf(sum)}, ${brokenOf(sum)}`,
    )
    const lines = [
      ...topologyLines,
      `faults: ${this.faults()}`,
      ...this.seeds.map((seed) => `  broken: ${seed}`),
    ]
    return `${lines.join('\n')}\n`
  }

  /** The rows of the page. */
  rows(): readonly Row[] {
    const today = new Date().toISOString().slice(0, 10)
    return [...this.byTopology].map(([topology, sum]) => ({
      case: `${titles[topology]}, ${sum.runs} runs on ${today}`,
      rounds: sum.requests,
      invariant: 'all invariants, and every process serves again',
      result: `${brokenOf(sum)}; ${sum.faults.length} faults of ${new Set(sum.faults).size} classes, ${sum.troubled} answers of trouble, ${sum.late} late writes`,
    }))
  }

  private faults(): string {
    const byName = new Map<FaultName, number>()
    for (const { faults } of this.byTopology.values())
      for (const name of faults) byName.set(name, (byName.get(name) ?? 0) + 1)
    const sorted = [...byName].toSorted(([one], [other]) => one.localeCompare(other))
    return sorted.map(([name, count]) => `${name} (${count})`).join('; ')
  }
}

const resultOf = ({ requests, troubled, late }: Pick<Sum, 'requests' | 'troubled' | 'late'>): string =>
  `${requests} requests, ${troubled} answers of trouble, ${late} late writes`

const brokenOf = ({ broken }: Sum): string =>
  broken === 0 ? 'no invariant broken' : `BROKEN ${broken} times`

void main()
