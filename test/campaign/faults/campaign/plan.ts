import { oneOf, randomFrom } from '../random'
import type { Habits } from '../visitor'

export const topologies = ['single', 'replicated', 'cluster'] as const
export type Topology = (typeof topologies)[number]

/** What breaks, by its name. */
export type FaultName = keyof typeof everyFault

type Place = Topology | 'all'

/** Every class of faults, and where it can happen. */
export const everyFault = {
  'process killed': 'all',
  'process stopped': 'all',
  'clock steps': 'all',
  'clock leaps': 'all',
  'connections cut': 'all',
  'replies lost': 'all',
  'connections silent': 'all',
  'commands delayed': 'all',
  'replies delayed': 'all',
  'writes duplicated': 'all',
  'writes withheld, then late': 'all',
  'copies of writes late': 'all',
  'Redis stopped': 'all',
  'Redis slow': 'all',
  'Redis full': 'all',
  'Redis read-only': 'all',
  'scripts flushed': 'all',
  'data lost': 'all',
  'Redis killed, its data kept': 'single',
  'Redis killed, its data lost': 'single',
  'switchover to the replica': 'replicated',
  'master killed, replica promoted': 'replicated',
  'master killed, lagging replica promoted': 'replicated',
  'master cut off, replica promoted': 'replicated',
  'replica stopped': 'replicated',
  'slot migrates': 'cluster',
  'node switched over': 'cluster',
  'node killed, its replica promoted': 'cluster',
} as const satisfies Record<string, Place>

export interface PlannedFault {
  readonly name: FaultName
  /** Milliseconds after the beginning of the load, and how long it lasts. */
  readonly at: number
  readonly lasts: number
  /** Which process it concerns, or on whose way it is. */
  readonly process: 0 | 1
  /** Decides what is left open, such as which of several nodes. */
  readonly seed: number
}

/** What a run does. The same seed gives the same plan; how the machine interleaves it differs from time to time. */
export interface RunPlan {
  readonly seed: number
  readonly topology: Topology
  /** Whether writes wait for replicas. */
  readonly waits: boolean
  readonly faults: readonly PlannedFault[]
  /** The process that visitors ask nothing until it serves after all faults. */
  readonly resting: 0 | 1 | undefined
  /** The shares of visits by owners, by machines and by clients that register. */
  readonly mix: readonly [owners: number, machines: number, registrants: number]
  readonly habits: Habits
  readonly visitors: number
}

const faultNames = Object.keys(everyFault).filter((name): name is FaultName =>
  Object.hasOwn(everyFault, name),
)

const late: ReadonlySet<FaultName> = new Set<FaultName>([
  'writes withheld, then late',
  'copies of writes late',
])
const breaking: ReadonlySet<FaultName> = new Set<FaultName>([
  'connections cut',
  'connections silent',
  'replies lost',
  'writes withheld, then late',
])
const losing: ReadonlySet<FaultName> = new Set<FaultName>(['data lost', 'Redis killed, its data lost'])

/** Late writes come twice as often as others: what they break needs an exact moment. */
const faultsAt = (topology: Topology): readonly FaultName[] =>
  [...faultNames, ...late].filter((name) => everyFault[name] === 'all' || everyFault[name] === topology)

/** Milliseconds. */
const latestStart = 900
const longest = 1000

interface Choice {
  readonly seed: number
  readonly runs: number
  /** Default: one after the other, by the seed. */
  readonly topology?: Topology | undefined
  /** Passes over seeds whose plans have no fault with this text in its name. */
  readonly fault?: string
}

/** The plans of this seed and of those that follow it. */
export function* plansFrom({ seed, runs, topology, fault = '' }: Choice): Generator<RunPlan> {
  let left = runs
  for (let next = seed; left > 0; next += 1) {
    const plan = planOf(next, topology)
    if (!plan.faults.some(({ name }) => name.includes(fault))) continue
    left -= 1
    yield plan
  }
}

/** What a run does, with the options of the command that repeat it. */
export function titleOf({ seed, topology, waits, faults, resting, visitors }: RunPlan): string {
  const described = faults.map(
    ({ name, at, lasts, process: place }) => `${name} (process ${place}, from ${at} ms for ${lasts} ms)`,
  )
  return [
    `--seed ${seed} --topology ${topology}${waits ? ', writes wait for a replica' : ''}`,
    `${visitors} visitors${resting === undefined ? '' : `, process ${resting} rests`}`,
    described.join(', '),
  ].join('; ')
}

/** @param topology default: by the seed. */
export function planOf(seed: number, topology = topologies[seed % topologies.length] ?? 'single'): RunPlan {
  const random = randomFrom(seed)
  // The first numbers of neighbouring seeds are of no kinship, but the seed itself chose the topology.
  random()
  const resting = random() < 0.25 ? anyProcess(random) : undefined
  const faults = compatible(
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => plannedFault(random, topology, resting)),
  )
  const [owners, machines, registrants] = [random() + 0.2, random() * 0.5, random() * 0.5]
  const all = owners + machines + registrants
  return {
    seed,
    topology,
    waits: topology === 'replicated' || (topology === 'cluster' && random() < 0.5),
    faults,
    resting,
    mix: [owners / all, machines / all, registrants / all],
    habits: {
      doubles: 0.1 + random() * 0.4,
      looks: 0.2 + random() * 0.2,
      refreshes: 0.1 + random() * 0.3,
      ends: 0.05 + random() * 0.25,
    },
    visitors: 3 + Math.floor(random() * 4),
  }
}

const anyProcess = (random: () => number): 0 | 1 => (random() < 0.5 ? 0 : 1)

/** @param resting the process that is asked nothing: what concerns one process concerns the other one. */
function plannedFault(random: () => number, topology: Topology, resting: 0 | 1 | undefined): PlannedFault {
  const [first, ...others] = faultsAt(topology)
  return {
    name: first === undefined ? 'process killed' : oneOf(random, [first, ...others]),
    at: Math.round(100 + random() * latestStart),
    lasts: Math.round(150 + random() * longest),
    process: resting === undefined ? anyProcess(random) : resting === 0 ? 1 : 0,
    seed: Math.floor(random() * 2 ** 32),
  }
}

/**
 * No write comes late in a run that loses all data: Redis then does not know any more what it must refuse, and a late
 * create stores what had been there before. No connection breaks while slots migrate: ioredis 6.0.0 lets the rejection of
 * an ASKING pass unhandled (`redis.asking()` in its cluster), which ends the process of the host.
 */
function compatible(faults: readonly PlannedFault[]): readonly PlannedFault[] {
  const isLosing = faults.some(({ name }) => losing.has(name))
  const isMigrating = faults.some(({ name }) => name === 'slot migrates')
  return faults.filter(({ name }) => !(isLosing && late.has(name)) && !(isMigrating && breaking.has(name)))
}
