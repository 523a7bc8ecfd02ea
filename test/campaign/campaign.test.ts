import { Chance } from '../support/chance'
import { walkConsents } from './consent-walks'
import { planOf, titleOf, type RunPlan, type Topology } from './plan'
import { Runner } from './runner'

// Milliseconds. Nothing here is judged by its speed, so the whole takes as long as the machine needs.
const unhurried = 30 * 60_000

/** Beside some where nothing breaks, such that each class of faults comes about once on each kind of database. */
const seeds: readonly (readonly [Topology, readonly number[]])[] = [
  ['single', [1, 7, 8, 9, 10, 12, 40, 42, 49, 55, 76, 235]],
  ['replicated', [1, 3, 7, 8, 9, 10, 42, 55, 82, 104, 149, 368]],
  ['cluster', [1, 7, 8, 30, 42, 49, 55, 71, 142, 188]],
  ['sentinel', [1, 7, 8, 9, 41, 42]],
  ['file', [1, 2, 3, 5]],
  ['postgres', [1, 2, 3, 5, 10, 30, 40]],
]
const plans = seeds.flatMap(([topology, some]) => some.map((seed) => planOf(seed, topology)))

const runner = new Runner()
afterAll(() => runner.close())

/** What was done, for whoever reads the log. */
const say = (plan: RunPlan, counts: object) =>
  process.stderr.write(`${titleOf(plan)}\n  ${JSON.stringify(counts)}\n`)

test(
  'in memory, no request breaks the server, wins what it must not or leaves anything behind [input-17, input-18]',
  async () => {
    const plan = planOf(7, 'memory')
    const { broken, good, hostile, requests } = await runner.play(plan, { hostile: 8000 })
    say(plan, { requests, hostile, good })
    expect(broken).toEqual([])
    // Else the requests were all too broken to try anything.
    expect(good).toBeGreaterThan(hostile / 50)
  },
  unhurried,
)

describe('No promise is broken, whatever is asked and whatever breaks', () => {
  test.each(plans.map((plan) => ({ title: titleOf(plan), plan })))(
    '$title [input-19]',
    async ({ plan }) => {
      const { broken, ...counts } = await runner.play(plan)
      say(plan, counts)
      expect(broken).toEqual([])
    },
    unhurried,
  )
})

test(
  'no token has a scope, a resource or a choice that its owner did not see on a page',
  async () => {
    const { complaints, happened } = await walkConsents(1500, new Chance(7))
    expect(complaints).toEqual([])
    // Else the walks were all too broken, or too good, to try anything.
    const happenings =
      'page,code of a page,code without a page,code by memory,taken back,refused request,refused decision,' +
      'denial,authorization_code,refresh_token,refused refresh_token'
    expect(happenings.split(',').filter((what) => !happened.has(what))).toEqual([])
  },
  unhurried,
)
