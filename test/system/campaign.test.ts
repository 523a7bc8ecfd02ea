import { planOf, titleOf } from '../campaign/plan'
import { Runner } from '../campaign/runner'

// Some seconds of the campaign, which `npm run test:long` plays whole.
const runs = [
  { plan: planOf(7, 'memory'), terms: { rounds: 4, hostile: 240 } },
  { plan: planOf(3, 'single'), terms: {} },
  { plan: planOf(1, 'replicated'), terms: {} },
]

const runner = new Runner()
afterAll(() => runner.close())

test.each(runs.map(({ plan, terms }) => [titleOf(plan), plan, terms] as const))(
  'the campaign finds no broken promise: %s',
  async (_title, plan, terms) => {
    const { broken, requests } = await runner.play(plan, { recovery: 120, ...terms })
    expect(broken).toEqual([])
    expect(requests).toBeGreaterThan(0)
  },
)
