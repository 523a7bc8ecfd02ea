import type { Chance } from './chance'

/** How far an authorization has come when the race for it begins. */
export type Stage = 'pending' | 'approved' | 'active'

/** What is raced at each stage; a late decision is a consent form that was sent before, sent again. */
export const operations = {
  pending: ['approve', 'deny'],
  approved: ['approve late', 'deny late', 'redeem'],
  active: [
    'approve late',
    'deny late',
    'replay',
    'refresh',
    'refresh again',
    'reuse',
    'revoke by access token',
    'revoke by refresh token',
    'use',
    'introspect',
  ],
} as const satisfies Record<Stage, readonly string[]>

/** The authorization request itself comes before every race. */
export type Operation = 'ask' | (typeof operations)[Stage][number]

/** `lifetimes.refreshTokenGrace` of the processes: strict, or as it is by default. */
export type Grace = 0 | 30

/** One party's request in a race, and the process that it asks with the newest access token right after its answer. */
export interface Move {
  readonly operation: Operation
  readonly server: number
  readonly next: number
  /** Milliseconds after the start. */
  readonly delay: number
  /** Chooses among the tokens where several would do. */
  readonly which: number
}

export interface RoundPlan {
  readonly number: number
  readonly stage: Stage
  readonly grace: Grace
  readonly moves: readonly Move[]
  /** The process that the preparation begins at; it goes around. */
  readonly first: number
}

/** Every pair of operations at every stage, with both graces, to one process and to several. */
const everyRace = (['pending', 'approved', 'active'] as const).flatMap((stage) =>
  pairsOf<Operation>(operations[stage]).flatMap((pair) =>
    ([0, 30] as const).flatMap((grace) => [true, false].map((apart) => ({ stage, pair, grace, apart }))),
  ),
)

/** Rounds that race every pair, with both graces, to one process and to several, before any comes again. */
export const roundsOfAll = everyRace.length

/** The races in two parts, each with every pair and both graces: where one part races apart, the other does not. */
const halves = [0, 1].map((half) =>
  everyRace.filter(
    ({ grace, apart }, index) => (Math.floor(index / 4) + half + Number(apart) + grace / 30) % 2 === 0,
  ),
)

export const processes = 3

/**
 * So many rounds: all races in a new order each time, and of each operation one or two at once. Half of all rounds race
 * every pair with both graces.
 */
export function* plans(chance: Chance, rounds: number): Generator<RoundPlan> {
  for (let number = 0; number < rounds;)
    for (const race of chance
      .shuffled(halves)
      .flatMap((half) => chance.shuffled(half))
      .slice(0, rounds - number))
      yield planOf(number++, race, chance)
}

function planOf(
  number: number,
  { stage, pair, grace, apart }: (typeof everyRace)[number],
  chance: Chance,
): RoundPlan {
  const first = chance.below(processes)
  const clients = pair.flatMap((operation) => (chance.below(3) === 0 ? [operation, operation] : [operation]))
  const moves = chance.shuffled(clients).map((operation, place) => ({
    operation,
    server: apart ? (first + place) % processes : first,
    next: chance.below(processes),
    delay: chance.among([0, 0, 0, 1, 2, 3]),
    which: chance.below(60),
  }))
  return { number, stage, grace, moves, first }
}

function pairsOf<T>(all: readonly T[]): (readonly [T, T])[] {
  return all.flatMap((one, index) => all.slice(index).map((other) => [one, other] as const))
}
