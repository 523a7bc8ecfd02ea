import { planOf, plansFrom, type RunPlan, type Topology } from './plan'
import type { WrongAnswer } from './planted/answers'
import { seenInRaces } from './planted/stores'
import { Runner } from './runner'
import type { Terms } from './run'

// Milliseconds: the whole takes as long as the machine needs.
const unhurried = 30 * 60_000
const mostRuns = 15

const runner = new Runner()
afterAll(() => runner.close())

/** What the judge says of the first run that shows something of this kind; else all that it said. */
async function complaintsOf(plans: Iterable<RunPlan>, terms: Terms, kind: RegExp): Promise<string> {
  const all: string[] = []
  let runs = 0
  for (const plan of plans) {
    const { broken } = await runner.play(plan, { recovery: 3, ...terms })
    const shown = broken.find((each) => kind.test(each))
    if (shown !== undefined) return shown
    all.push(...broken)
    runs += 1
    if (runs === mostRuns) break
  }
  return all.join('\n')
}

/** Runs in which nothing breaks, and most race. */
function* calmRuns(): Generator<RunPlan> {
  for (const plan of plansFrom({ seed: 1, topology: 'single' })) {
    yield { ...plan, faults: [], resting: undefined, visitors: 8, hostile: 0, races: 0.8 }
  }
}

const anyPromise =
  /won twice|answered twice|given again|never issued|revoked credential|rotated-out|was lost|trouble although|a wrong answer/

describe(`The judge notices a store within ${mostRuns} runs`, () => {
  test.each(Object.keys(seenInRaces))(
    'that has %s',
    async (wrongStore) => {
      expect(await complaintsOf(calmRuns(), { wrongStore }, anyPromise)).toMatch(anyPromise)
    },
    unhurried,
  )

  const killed = 'Redis killed, its data kept'
  test.each<readonly [string, Terms, Topology, fault: string, RegExp]>([
    ['a failure that reads as an absent record', {}, 'single', killed, /an acknowledged credential was lost/],
    ['a failure that nothing awaits', {}, 'single', killed, /unhandled rejection/],
    ['a removal of a registration that only pretends', {}, 'single', '', /a revoked credential was accepted/],
    ['creates that no mark refuses', { forgetsMarks: true }, 'single', 'copies of writes late', anyPromise],
    ['writes that wait for no replica', { waitsForNothing: true }, 'replicated', 'lagging', anyPromise],
  ])(
    'that has %s',
    async (name, terms, topology, fault, kind) => {
      const isOfStore = Object.keys(terms).length === 0
      const plans = plansFrom({ seed: 1, topology, fault })
      expect(await complaintsOf(plans, isOfStore ? { wrongStore: name } : terms, kind)).toMatch(kind)
    },
    unhurried,
  )
})

const byGet = 'authorization request by GET'

describe('The judge notices answers with', () => {
  test.each<readonly [WrongAnswer, kind: string, complaint: RegExp]>([
    ['repeated parameter', byGet, /status 500\n/],
    ['echo', byGet, /the body echoes the request\n/],
    ['hang', 'revocation', /no answer, while others are answered\n/],
    ['rejection', 'revocation', /^unhandled rejection: Error: A planted rejection\./],
    ['leak', 'metadata', /^memory grew by more than \d+ bytes/],
    ['open redirect', byGet, /leads to a place that is not registered\n/],
    ['open token endpoint', 'code of a public client', /won although/],
  ])(
    '%s',
    async (wrongAnswer, kind, complaint) => {
      // Visitors would see most of them, too: here hostile requests alone must.
      const plan = { ...planOf(7, 'memory'), visitors: 0 }
      const terms = { wrongAnswer, kinds: [kind], hostile: 1000 }
      expect(await complaintsOf([plan], terms, complaint)).toMatch(complaint)
    },
    unhurried,
  )
})
