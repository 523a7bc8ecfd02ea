import { extent } from '../../support/extent'
import { Chance } from '../../support/races/chance'
import { seedOfFuzz } from './fuzz'
import { walkOften } from './resource-walks'

const seed = seedOfFuzz()
const walks = extent(50, 10_000)
const unhurried = 60 * 60_000

test(
  `no token has an unapproved audience or scope: ${walks} walks, seed ${seed}`,
  async () => {
    const { complaints, granted, refused } = await walkOften(walks, new Chance(seed))
    expect(complaints.map((complaint) => `FUZZ_SEED=${seed} ${complaint}`)).toEqual([])
    // Else the walks were all too broken, or too good, to try anything.
    expect(granted).toBeGreaterThan(walks)
    expect(refused).toBeGreaterThan(walks)
  },
  unhurried,
)
