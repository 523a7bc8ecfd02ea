import * as fc from 'fast-check'
import { lifetimes } from './circumstances'
import { badNetwork, type Work } from './moves'
import type { Fate } from './unreliable-store'
import { World } from './world'

/** One authorization under many hands: how far it is, and what the workers may do with it. */
export interface Scene {
  readonly prologue: Work
  readonly crew: fc.Arbitrary<readonly Work[]>
  readonly network?: fc.Arbitrary<readonly Fate[]>
  /** Seconds of grace for a refresh token that was rotated out. */
  readonly grace?: fc.Arbitrary<number>
  /** Whether a worker repeats a move until the server gives an answer. */
  readonly persistent?: boolean
}

const histories = 300
const graces = fc.constantFrom(lifetimes.refreshTokenGrace, 0)

/**
 * Plays random interleavings of a scene, and holds a law against each when everything has settled. The law returns
 * how many cases of it the history held: a law that met too few proves nothing, so that fails, too.
 */
export async function holds(
  { prologue, crew, network = badNetwork, grace = graces, persistent = false }: Scene,
  law: (world: World) => number | Promise<number>,
): Promise<void> {
  let cases = 0
  const history = fc.asyncProperty(
    fc.scheduler(),
    crew,
    network,
    grace,
    async (scheduler, works, fates, seconds) => {
      const turn = (label: string) => scheduler.schedule(Promise.resolve(), label)
      const world = new World(turn, fates.values(), seconds)
      await world.begin(prologue)
      const done = Promise.all(works.map((work) => world.work(work, persistent)))
      await scheduler.waitIdle()
      await done
      // Every conflict is settled in few rounds, so that nobody ever gives up on one.
      for (const { ending } of world.deeds)
        expect(ending).not.toHaveProperty('reason', 'authorization_contended')
      cases += await law(world)
    },
  )
  await fc.assert(history, { numRuns: histories })
  expect(cases).toBeGreaterThan(histories / 10)
}
