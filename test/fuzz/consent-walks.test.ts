import { extent } from '../support/extent'
import { Chance } from '../support/races/chance'
import { walkConsents } from './consent-walks'
import { seedOfFuzz } from './fuzz'

const seed = seedOfFuzz()
const walks = extent(60, 10_000)
const unhurried = 60 * 60_000

test(
  `no token has a scope, a resource or a choice that its owner did not see: ${walks} walks, seed ${seed}`,
  async () => {
    const { complaints, counts } = await walkConsents(walks, new Chance(seed))
    expect(complaints.map((complaint) => `FUZZ_SEED=${seed} ${complaint}`)).toEqual([])
    // Else the walks were all too broken, or too good, to try anything.
    for (const what of [
      'page',
      'code of a page',
      'code without a page',
      'code by memory',
      'taken back',
      'refused request',
      'refused decision',
      'denial',
      'authorization_code',
      'refresh_token',
      'refused refresh_token',
    ])
      expect({ what, happens: (counts[what] ?? 0) > 0 }).toEqual({ what, happens: true })
  },
  unhurried,
)
