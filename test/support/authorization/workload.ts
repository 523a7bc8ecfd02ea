import * as fc from 'fast-check'
import type { Lifetimes } from '../../../lib/authorization/lifetimes'
import { extent } from '../extent'
import { lifetimes as usual } from './issue-context'
import { badNetwork, type Work } from './moves'
import { Scheduler } from './scheduler'
import type { CallOutcome } from './unreliable-store'
import { Simulation } from './simulation'

/** What several workers do with one authorization at the same time. */
export interface Workload {
  /** Moves before the workers begin. */
  readonly setup: Work
  /** The moves of each worker. */
  readonly plans: fc.Arbitrary<readonly Work[]>
  readonly network?: fc.Arbitrary<readonly CallOutcome[]>
  /** Lifetimes that are not the usual ones; without any, runs with the usual grace and without mix. */
  readonly lifetimes?: Partial<Lifetimes>
  /** Whether a worker repeats a move until the server gives an answer. */
  readonly persistent?: boolean
}

const runs = extent(30, 300)
const enough = runs / 20
const strict: Partial<Lifetimes> = { refreshTokenGrace: 0 }
const order = fc.uint8Array({ maxLength: 300 })

/**
 * Runs random interleavings of a workload, and checks an invariant after each. The invariant returns how many cases of it
 * the run had. Too few cases prove nothing, so they fail, too.
 */
export async function holds(
  { setup, plans, network = badNetwork, lifetimes, persistent = false }: Workload,
  invariant: (simulation: Simulation) => number | Promise<number>,
): Promise<void> {
  let cases = 0
  const others = lifetimes === undefined ? fc.constantFrom({}, strict) : fc.constant(lifetimes)
  const history = fc.asyncProperty(plans, network, order, others, async (works, outcomes, plan, bend) => {
    const scheduler = new Scheduler(plan.values())
    const simulation = new Simulation(scheduler.take, outcomes.values(), { ...usual, ...bend })
    await simulation.begin(setup)
    const workers = works.map((work, index) => simulation.work(`worker ${index}`, work, persistent))
    await Promise.all([scheduler.untilSettled(), ...workers])
    // Every conflict is settled in few rounds, so that no caller ever gives up on one.
    const reasons = simulation.operations.map(({ ending }) =>
      ending.kind === 'refused' ? ending.reason : '',
    )
    expect(reasons).not.toContain('authorization_contended')
    try {
      cases += await invariant(simulation)
    } catch (cause) {
      throw new Error(`The invariant is broken after these turns:\n${scheduler.log.join('\n')}`, {
        cause,
      })
    }
  })
  const play = async (times: number): Promise<void> => {
    await fc.assert(history, { numRuns: runs })
    // Again where chance brought too few cases.
    if (cases <= enough && times < 20) await play(times + 1)
  }
  await play(1)
  expect(cases).toBeGreaterThan(enough)
}
