import { extent } from '../../../support/extent'
import { planOf, titleOf, type Topology } from './plan'
import { CampaignRunner } from './campaign-runner'

// In milliseconds. Nothing here is judged by its speed, so the whole takes as long as the machine needs.
const unhurried = 10 * 60_000

const inEveryRun: readonly (readonly [Topology, number])[] = [
  ['single', 26],
  ['replicated', 31],
  ['cluster', 10],
]
const inLongRuns: typeof inEveryRun = [
  ['single', 28],
  ['cluster', 14],
]
const plans = extent(inEveryRun, [...inEveryRun, ...inLongRuns]).map(([topology, seed]) =>
  planOf(seed, topology),
)

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
