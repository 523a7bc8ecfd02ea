import * as fc from 'fast-check'
import type { Lifetimes } from '../../../lib/authorization/transition'
import { extent } from '../extent'
import { lifetimes as usual } from './issue-context'
import { badNetwork, type Work } from './moves'
import { Turns } from './turns'
import type { Fate } from './unreliable-store'
import { World } from './world'

/** One authorization under many hands: how far it is, and what the workers may do with it. */
export interface Scene {
  readonly prologue: Work
  readonly crew: fc.Arbitrary<readonly Work[]>
  readonly network?: fc.Arbitrary<readonly Fate[]>
  /** Lifetimes that are not the usual ones; without any, histories with the usual grace and without mix. */
  readonly lifetimes?: Partial<Lifetimes>
  /** Whether a worker repeats a move until the server gives an answer. */
  readonly persistent?: boolean
}

const histories = extent(60, 300)
const enough = histories / 20
const strict: Partial<Lifetimes> = { refreshTokenGrace: 0 }
const order = fc.uint8Array({ maxLength: 300 })

/**
 * Plays random interleavings of a scene, and holds a law against each when everything has settled. The law returns
 * how many cases of it the history held: a law that met too few proves nothing, so that fails, too.
 */
export async function holds(
  { prologue, crew, network = badNetwork, lifetimes, persistent = false }: Scene,
  law: (world: World) => number | Promise<number>,
): Promise<void> {
  let cases = 0
  const others = lifetimes === undefined ? fc.constantFrom({}, strict) : fc.constant(lifetimes)
  const history = fc.asyncProperty(crew, network, order, others, async (works, fates, plan, bend) => {
    const turns = new Turns(plan.values())
    const world = new World(turns.take, fates.values(), { ...usual, ...bend })
    await world.begin(prologue)
    const workers = works.map((work, index) => world.work(`worker ${index}`, work, persistent))
    await Promise.all([turns.untilSettled(), ...workers])
    // Every conflict is settled in few rounds, so that nobody ever gives up on one.
    const reasons = world.deeds.map(({ ending }) => (ending.kind === 'refused' ? ending.reason : ''))
    expect(reasons).not.toContain('authorization_contended')
    try {
      cases += await law(world)
    } catch (cause) {
      throw new Error(`The law is broken after these turns:\n${turns.log.join('\n')}`, { cause })
    }
  })
  const play = async (times: number): Promise<void> => {
    await fc.assert(history, { numRuns: histories })
    // Again where chance brought too few cases.
    if (cases <= enough && times < 20) await play(times + 1)
  }
  await play(1)
  expect(cases).toBeGreaterThan(enough)
}
