import { Chance } from '../support/chance'
import {
  anywhere,
  behindSentinel,
  ofACluster,
  ofAFile,
  ofAPair,
  ofOneRedis,
  ofRedis,
  ofSyncedPair,
  onTheWayToRedis,
  overNetworks,
} from './faults'

const ofAnyRedis = { ...anywhere, ...ofRedis }
const overRedisNetworks = { ...ofAnyRedis, ...overNetworks, ...onTheWayToRedis }

/** Where a run is played, and what can break there. */
export const faultsOf = {
  memory: {},
  single: { ...overRedisNetworks, ...ofOneRedis },
  replicated: { ...overRedisNetworks, ...ofAPair },
  cluster: { ...overRedisNetworks, ...ofACluster },
  sentinel: { ...ofAnyRedis, ...behindSentinel },
  file: { ...anywhere, ...ofAFile },
  postgres: { ...anywhere, ...overNetworks, ...ofSyncedPair },
}
export type Topology = keyof typeof faultsOf
const isTopology = (name: string): name is Topology => Object.hasOwn(faultsOf, name)
export const topologies: readonly Topology[] = Object.keys(faultsOf).filter(isTopology)

interface PlannedFault {
  readonly name: string
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
  /** Shares of 1: of what visitors do, races; and of what they do with tokens, revocations and replays. */
  readonly races: number
  readonly ends: number
  readonly visitors: number
  /** How many send hostile requests beside the visitors. */
  readonly hostile: number
}

const late = ['writes withheld, then late', 'copies of writes late']
const breaking = ['connections cut', 'connections silent', 'replies lost', 'writes withheld, then late']
const losing = ['data lost', 'Redis killed, its data lost']

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
  // Late writes come twice as often as others: what they break needs an exact moment.
  const names = Object.keys(faultsOf[topology])
  const likely = [...names, ...late.filter((name) => names.includes(name))]
  const faults = Array.from({ length: isCalm ? 0 : chance.between(1, 3) }, () => ({
    name: chance.any(likely),
    at: chance.between(100, 1000),
    lasts: chance.between(150, 1150),
    // Of the process that is asked nothing, nothing would show.
    process: resting === undefined ? chance.below(2) : 1 - resting,
    seed: chance.below(2 ** 32),
  }))
  return {
    seed,
    topology,
    waits: topology === 'replicated' || (['cluster', 'postgres'].includes(topology) && chance.below(2) === 0),
    grace: chance.among([0, 30, 30]),
    faults: compatible(faults),
    resting,
    // Races tell most where nothing else breaks.
    races: (isCalm ? 0.25 : 0) + chance.share() * 0.35,
    ends: 0.05 + chance.share() * 0.25,
    visitors: chance.between(3, 6) + (isCalm && topology !== 'memory' ? 4 : 0),
    hostile: topology === 'memory' ? 6 : chance.below(3),
  }
}

/**
 * No write comes late in a run that loses all data: Redis then does not know any more what it must refuse, and a late
 * create stores what had been there before. No connection breaks while slots migrate: ioredis 6.0.0 lets the rejection of
 * an ASKING pass unhandled (`redis.asking()` in its cluster), which ends the process of the host. No process starts
 * while its file is away: it refuses to.
 */
function compatible(faults: readonly PlannedFault[]): readonly PlannedFault[] {
  const isAny = (names: readonly string[]): boolean => faults.some(({ name }) => names.includes(name))
  const excluded = new Set([
    ...(isAny(losing) ? late : []),
    ...(isAny(['slot migrates']) ? breaking : []),
    ...(isAny(['file away']) ? ['process killed'] : []),
  ])
  return faults.filter(({ name }) => !excluded.has(name))
}
