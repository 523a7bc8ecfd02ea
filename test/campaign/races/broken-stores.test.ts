import { memoryStore } from '../../../lib/stores/memory-store'
import { checkAuthorizationStore } from '../../../lib/testing/index'
import { extent } from '../../support/extent'
import { Chance, seedOfRun } from '../../support/races/chance'
import { serversInProcess } from '../../support/races/servers-in-process'
import { roundsOfAll } from '../../support/races/plan'
import { race, type Verdict } from '../../support/races/race'
import { faults, type Fault } from '../../support/stores/broken-stores'

const seed = seedOfRun()
const shownInRaces = faults.filter(({ showsInRaces }) => showsInRaces)
const raced = extent(shownInRaces.slice(0, 4), shownInRaces)

async function racesOver(
  plant: Fault['plant'],
  most: { rounds: number; untilBroken?: number },
): Promise<readonly Verdict[]> {
  const { origins, stop } = await serversInProcess(plant, new Chance(seed))
  try {
    return await race(origins, { seed, ...most })
  } finally {
    await stop()
  }
}

const complaintsOf = (verdicts: readonly Verdict[]): readonly string[] =>
  verdicts.flatMap(({ violations }) => violations)

describe(`The race suite, RACES_SEED=${seed}`, () => {
  it('passes a sound store, though its calls wait and its saves are resent', async () => {
    const verdicts = await racesOver((sound) => sound, { rounds: extent(roundsOfAll / 4, roundsOfAll) })
    // A save that is sent again after a replay removed the record cannot know that it had won; no redemption wins then.
    const complaints = complaintsOf(verdicts).filter(
      (complaint) => !complaint.endsWith(': 0 redemptions won'),
    )
    expect(complaints).toEqual([])
    for (const { rounds } of verdicts) expect(rounds).toBeGreaterThan(0)
  })

  it.each(raced)('fails on $name before every pair has raced twice', async ({ plant }) => {
    expect(
      complaintsOf(await racesOver(plant, { rounds: 2 * roundsOfAll, untilBroken: 1 })).length,
    ).toBeGreaterThan(0)
  })
})

const brokenBy = async (plant: Fault['plant']): Promise<readonly string[]> => {
  const verdicts = await checkAuthorizationStore(() => {
    let ahead = 0
    const store = plant(memoryStore({ clock: () => Date.now() + ahead }))
    return { store, advance: (seconds) => void (ahead += seconds * 1000) }
  })
  return verdicts.flatMap(({ rule, problem }) => (problem === undefined ? [] : [rule]))
}

describe('The contract of stores', () => {
  it('passes a sound store', async () => {
    expect(await brokenBy((sound) => sound)).toEqual([])
  })

  it.each(faults)('fails on $name', async ({ plant }) => {
    expect((await brokenBy(plant)).length).toBeGreaterThan(0)
  })
})
