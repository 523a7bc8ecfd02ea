import { extent } from '../../support/extent'
import { Chance } from '../../support/races/chance'
import { walkConsents } from './consent-walks'
import { seedOfFuzz } from './fuzz'

const seed = seedOfFuzz()
const walks = extent(60, 10_000)
const unhurried = 60 * 60_000

// Else the walks were all too broken, or too good, to try anything.
const happenings = [
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
]

test(
  `no token has a scope, a resource or a choice that its owner did not see: ${walks} walks, seed ${seed}`,
  async () => {
    const chance = new Chance(seed)
    const missing = new Set(happenings)
    // Few walks may miss what is rare: more of them follow then.
    for (let turn = 0; turn < 10 && missing.size > 0; turn++) {
      const { complaints, counts } = await walkConsents(walks, chance)
      expect(complaints.map((complaint) => `FUZZ_SEED=${seed} ${complaint}`)).toEqual([])
      for (const what of Object.keys(counts)) missing.delete(what)
    }
    expect([...missing]).toEqual([])
  },
  unhurried,
)
