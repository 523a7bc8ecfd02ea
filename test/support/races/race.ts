import { Chance } from './chance'
import { Connections } from './connections'
import { invariants } from './invariants'
import { plans, type Grace } from './plan'
import { runRound, type Round } from './round'

/** Where the processes listen, by their grace: three of each, and all on one store. */
export type OriginsByGrace = Readonly<Record<Grace, readonly string[]>>

/** What an invariant saw: the rounds that had something to say about it, and what broke it. */
export interface Verdict {
  readonly title: string
  readonly rounds: number
  readonly violations: readonly string[]
}

export interface Races {
  readonly seed: number
  readonly rounds: number
  /** Ends when so many rounds broke an invariant. Default: never. */
  readonly untilBroken?: number
}

const atOnce = 6

/** Runs seeded rounds, some at a time, and holds every invariant against each of them. */
export async function race(
  origins: OriginsByGrace,
  { seed, rounds, untilBroken = Infinity }: Races,
): Promise<Verdict[]> {
  const verdicts = invariants.map(({ title }) => ({ title, rounds: 0, violations: new Array<string>() }))
  const connections = new Connections()
  const planned = plans(new Chance(seed), rounds)
  let broken = 0
  const lane = async (): Promise<void> => {
    for (const plan of planned) {
      if (broken >= untilBroken) return
      const round = await runRound(plan, origins[plan.grace], connections)
      if (judge(round, seed, verdicts)) broken += 1
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, lane))
  } finally {
    connections.close()
  }
  return verdicts
}

function judge(
  round: Round,
  seed: number,
  verdicts: readonly { rounds: number; violations: string[] }[],
): boolean {
  let broken = false
  for (const [index, { judge: judgement }] of invariants.entries()) {
    const complaints = judgement(round)
    const verdict = verdicts[index]
    if (complaints === undefined || verdict === undefined) continue
    verdict.rounds += 1
    verdict.violations.push(...complaints.map((complaint) => `${nameOf(round, seed)}: ${complaint}`))
    broken ||= complaints.length > 0
  }
  return broken
}

function nameOf({ plan: { number, stage, grace, moves } }: Round, seed: number): string {
  const clients = moves.map(({ operation, server }) => `${operation} at ${server}`).join(', ')
  return `RACES_SEED=${seed}, round ${number}, ${stage}, grace ${grace}, ${clients}`
}
