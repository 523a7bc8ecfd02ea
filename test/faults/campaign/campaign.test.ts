import { planOf, titleOf, type Topology } from './plan'
import { CampaignRunner } from './campaign-runner'

// In milliseconds. Nothing here is judged by its speed, so the whole takes as long as the machine needs.
const unhurried = 10 * 60_000

const chosen: readonly (readonly [Topology, number])[] = [
  ['single', 26],
  ['single', 28],
  ['replicated', 31],
  ['cluster', 10],
  ['cluster', 14],
]
const plans = chosen.map(([topology, seed]) => planOf(seed, topology))

describe('No invariant is broken by a run of the campaign', () => {
  const runner = new CampaignRunner()
  afterAll(() => runner.close())

  test.each(plans.map((plan) => ({ title: titleOf(plan), plan })))(
    '$title',
    async ({ plan }) => {
      const { broken, requests } = await runner.play(plan)
      expect(broken).toEqual([])
      expect(requests).toBeGreaterThan(0)
    },
    unhurried,
  )
})
