import { Chance } from '../support/chance'
import type { Habits, Mix } from './visitors'

/** Where a run is played. */
export const topologies = ['memory', 'single', 'replicated', 'cluster', 'sentinel'] as const
export type Topology = (typeof topologies)[number]

const anywhere = ['single', 'replicated', 'cluster', 'sentinel'] as const satisfies readonly Topology[]
/** Where a network lies between the processes and Redis, and where nobody swaps servers that are silent. */
const overNetworks = ['single', 'replicated', 'cluster'] as const satisfies readonly Topology[]

/** Every class of faults, and where it can happen. */
const everyFault = {
  'process killed': anywhere,
  'process stopped': anywhere,
  'clock steps': anywhere,
  'clock leaps': anywhere,
  'connections cut': overNetworks,
  'replies lost': overNetworks,
  'connections silent': overNetworks,
  'commands delayed': overNetworks,
  'replies delayed': overNetworks,
  'writes duplicated': overNetworks,
  'writes withheld, then late': overNetworks,
  'copies of writes late': overNetworks,
  'Redis stopped': overNetworks,
  'Redis slow': overNetworks,
  'Redis full': anywhere,
  'Redis read-only': overNetworks,
  'scripts flushed': anywhere,
  'data lost': anywhere,
  'Redis killed, its data kept': ['single'],
  'Redis killed, its data lost': ['single'],
  'switchover to the replica': ['replicated'],
  'master killed, replica promoted': ['replicated'],
  'master killed, lagging replica promoted': ['replicated'],
  'master cut off, replica promoted': ['replicated'],
  'replica stopped': ['replicated'],
  'slot migrates': ['cluster'],
  'node switched over': ['cluster'],
  'node killed, its replica promoted': ['cluster'],
  'Sentinel fails over to a lagging replica': ['sentinel'],
} as const satisfies Record<string, readonly Topology[]>

/** What breaks, by its name. */
export type FaultName = keyof typeof everyFault

export interface PlannedFault {
  readonly name: FaultName
  /** Milliseconds after the beginning of the load, and how long it lasts. */
  readonly at: number
  readonly lasts: number
  /** Which process it concerns, or on whose way it is. */
  readonly process: number
  /** Decides what is left open, such as which of several nodes. */
  readonly seed: number
}

/** What a run does. The same seed gives the same plan; how the machine interleaves it differs from time to time. */
export interface RunPlan {
  readonly seed: number
  readonly topology: Topology
  /** Whether writes wait for replicas. */
  readonly waits: boolean
  /** Seconds within which a refresh token may come again. */
  readonly grace: 0 | 30
  /** None in a calm run, in which then every request must get its answer. */
  readonly faults: readonly PlannedFault[]
  /** The process that visitors ask nothing until it serves after all faults. */
  readonly resting: number | undefined
  readonly mix: Mix
  readonly habits: Habits
  readonly visitors: number
  /** How many send hostile requests beside the visitors. */
  readonly hostile: number
}

const isFault = (name: string): name is FaultName => Object.hasOwn(everyFault, name)
const isOneOf = (names: readonly string[], { name }: PlannedFault): boolean => names.includes(name)

const late: readonly FaultName[] = ['writes withheld, then late', 'copies of writes late']
const breaking = ['connections cut', 'connections silent', 'replies lost', 'writes withheld, then late']
const losing = ['data lost', 'Redis killed, its data lost']

/** Late writes come twice as often as others: what they break needs an exact moment. */
function faultsAt(topology: Topology): readonly FaultName[] {
  const names = [...Object.keys(everyFault).filter(isFault), ...late]
  return names.filter((name) => everyFault[name].some((place) => place === topology))
}

interface Choice {
  readonly seed: number
  /** Default: one after the other, by the seed. */
  readonly topology?: Topology | undefined
  /** Passes over seeds whose plans have no fault with this text in its name. */
  readonly fault?: string
}

/** The plans of this seed and of those that follow it, without an end. */
export function* plansFrom({ seed, topology, fault = '' }: Choice): Generator<RunPlan> {
  for (let next = seed; ; next += 1) {
    const plan = planOf(next, topology)
    if (fault === '' || plan.faults.some(({ name }) => name.includes(fault))) yield plan
  }
}

/** What a run does, with the words of the command that repeat it. */
export function titleOf({ seed, topology, waits, grace, faults, resting, visitors }: RunPlan): string {
  const described = faults.map(
    ({ name, at, lasts, process: place }) => `${name} (process ${place}, from ${at} ms for ${lasts} ms)`,
  )
  return [
    `--seed ${seed} --topology ${topology}${waits ? ', writes wait for a replica' : ''}, grace ${grace} s`,
    `${visitors} visitors${resting === undefined ? '' : `, process ${resting} rests`}`,
    described.join(', ') || 'nothing breaks',
  ].join('; ')
}

/** @param topology default: by the seed. */
export function planOf(seed: number, topology = topologies[seed % topologies.length] ?? 'single'): RunPlan {
  const chance = new Chance(seed)
  const isCalm = topology === 'memory' || chance.below(3) === 0
  const resting = !isCalm && chance.below(4) === 0 ? chance.below(2) : undefined
  const faults = isCalm
    ? []
    : compatible(Array.from({ length: chance.between(1, 3) }, () => plannedFault(chance, topology, resting)))
  const waits = topology === 'replicated' || (topology === 'cluster' && chance.below(2) === 0)
  return {
    seed,
    topology,
    waits,
    grace: chance.among([0, 30, 30]),
    faults,
    resting,
    mix: mixOf(chance, isCalm),
    habits: {
      doubles: 0.1 + chance.share() * 0.4,
      looks: 0.2 + chance.share() * 0.2,
      refreshes: 0.1 + chance.share() * 0.3,
      ends: 0.05 + chance.share() * 0.25,
    },
    visitors: chance.between(3, 6) + (isCalm && topology !== 'memory' ? 4 : 0),
    hostile: topology === 'memory' ? 6 : chance.below(3),
  }
}

/** Shares of 1. Races tell most where nothing else breaks. */
function mixOf(chance: Chance, isCalm: boolean): Mix {
  const parts = [0.2 + chance.share(), ...[0.4, 0.4, 0.5].map((most) => chance.share() * most)]
  const all = [...parts, (isCalm ? 0.5 : 0) + chance.share() * 0.7]
  const sum = all.reduce((one, other) => one + other)
  const [owner = 0, machine = 0, registrant = 0, device = 0, racer = 0] = all.map((part) => part / sum)
  return { owner, machine, registrant, device, racer }
}

/** @param resting the process that is asked nothing: what concerns one process concerns the other one. */
function plannedFault(chance: Chance, topology: Topology, resting: number | undefined): PlannedFault {
  return {
    name: chance.any(faultsAt(topology)),
    at: chance.between(100, 1000),
    lasts: chance.between(150, 1150),
    process: resting === undefined ? chance.below(2) : 1 - resting,
    seed: chance.below(2 ** 32),
  }
}

/**
 * No write comes late in a run that loses all data: Redis then does not know any more what it must refuse, and a late
 * create stores what had been there before. No connection breaks while slots migrate: ioredis 6.0.0 lets the rejection of
 * an ASKING pass unhandled (`redis.asking()` in its cluster), which ends the process of the host.
 */
function compatible(faults: readonly PlannedFault[]): readonly PlannedFault[] {
  const isLosing = faults.some((fault) => isOneOf(losing, fault))
  const isMigrating = faults.some(({ name }) => name === 'slot migrates')
  return faults.filter(
    (fault) => !(isLosing && isOneOf(late, fault)) && !(isMigrating && isOneOf(breaking, fault)),
  )
}
