import * as fc from 'fast-check'
import { type History, holds, lossyNetwork, type Operation, tokensOf, type Workload } from './interleaving'
import { type Ending, type Move, usual } from './world'
import { noon } from '../support/noon'

const approve: Move = { move: 'approve', owner: 'alice' }
const redeem: Move = { move: 'redeem', client: 'printer', redirectUri: 'right', verifier: 'right' }
const refresh: Move = { move: 'refresh', client: 'printer', token: 0 }

const mostly = <T extends string>(often: T, rarely: T) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: fc.constant(rarely) })
const owner = mostly('alice', 'mallory')
const client = mostly('printer', 'mallory')
const token = fc.oneof(
  { weight: 5, arbitrary: fc.constant(-1) },
  { weight: 2, arbitrary: fc.constant(-2) },
  { weight: 1, arbitrary: fc.nat({ max: 9 }) },
)
const redirectUri = fc.constant('right')
const moves = {
  approve: fc.record({ move: fc.constant('approve'), owner }),
  deny: fc.record({ move: fc.constant('deny'), owner }),
  redeem: fc.record({ move: fc.constant('redeem'), client, redirectUri, verifier: mostly('right', 'wrong') }),
  guess: fc.constant<Move>({ move: 'redeem', client: 'printer', redirectUri: 'right', verifier: 'wrong' }),
  refresh: fc.record({ move: fc.constant('refresh'), client, token }),
  revoke: fc.record({ move: fc.constant('revoke'), client: fc.constant('printer'), token }),
  wait: fc.record({ move: fc.constant('wait'), seconds: fc.nat({ max: 60 }) }),
} satisfies Record<string, fc.Arbitrary<Move>>

/** Two to four workers, each with some of these moves before it; a number says how often one is chosen. */
function plans(weights: Partial<Record<keyof typeof moves, number>>) {
  const choices = Object.entries<fc.Arbitrary<Move>>(moves).flatMap(([name, arbitrary]) => {
    const weight = Object.entries(weights).find(([known]) => known === name)?.[1]
    return weight === undefined ? [] : [{ weight, arbitrary }]
  })
  return fc.array(fc.array(fc.oneof(...choices), { minLength: 1, maxLength: 5 }), {
    minLength: 2,
    maxLength: 4,
  })
}

/** Several workers who do the same thing at the same time. */
const parallel = (move: Move, least = 1) =>
  fc.integer({ min: least, max: 5 }).map((workers) => Array.from({ length: workers }, () => [move]))

const isGood = ({ kind }: Ending): boolean => !['refused', 'trouble', 'done before', 'nothing'].includes(kind)
const wasAnswered = ({ ending }: Operation): boolean => ending.kind !== 'trouble'
const isStranger = ({ act }: Operation): boolean => Object.values(act).includes('mallory')

/** Whether a refresh came with a token that was out of use when it began: an older generation, or past the grace. */
function wasOutOfUse(history: History, { presented, began }: Operation): boolean {
  const known = history.lineage()
  const own = known.get(presented)?.depth ?? 0
  return [...known.values()].some(
    ({ depth, delivery: { ended } }) =>
      ended.turn < began.turn &&
      (depth > own + 1 ||
        (depth === own + 1 && began.now >= ended.now + history.world.terms.lifetimes.refreshTokenGrace)),
  )
}

/** What holds in every history; the numbers say how many cases of it there were. */
async function judged(history: History): Promise<Readonly<Record<string, number>>> {
  const { operations, world } = history
  const { refreshTokenGrace } = world.terms.lifetimes
  const valid = await history.validCredentials()

  // Every conflict is settled in few rounds, so that no caller ever gives up on one.
  const reasons = operations.map(({ ending }) => (ending.kind === 'refused' ? ending.reason : ''))
  expect(reasons).not.toContain('record_contended')

  const strangers = operations.filter(isStranger)
  expect(strangers.filter(({ writes, ending }) => writes > 0 || isGood(ending))).toEqual([])

  const good = operations.filter(({ ending }) => isGood(ending))
  expect(good.filter(({ acknowledged }) => !acknowledged)).toEqual([])

  const redemptions = history.of('redeem')
  const won = redemptions.filter(tokensOf)
  expect(won.length).toBeLessThanOrEqual(1)

  const decisions = history.of('approve', 'deny').filter(({ ending }) => isGood(ending))
  expect(new Set(decisions.map(({ act, ending }) => act.move + JSON.stringify(ending))).size).toBeLessThan(2)
  expect(decisions.filter(({ began }) => won.some(({ ended }) => began.turn > ended.turn))).toEqual([])

  const answers = history.of('refresh').filter(tokensOf)
  for (const { presented } of answers) {
    const same = answers.filter((other) => other.presented === presented)
    expect(new Set(same.map((answer) => tokensOf(answer)?.refreshToken)).size).toBe(1)
    expect(same.length).toBeLessThanOrEqual(refreshTokenGrace === 0 ? 1 : Infinity)
    for (const { began, ending } of same)
      expect(ending.kind === 'tokens' && ending.issued.expiresAt > began.now).toBe(true)
    // An access token that ends within the grace is replaced by another one.
    const outlasts = world.terms.lifetimes.accessToken >= refreshTokenGrace + 240
    const distinct = new Set(same.map((answer) => JSON.stringify(tokensOf(answer)))).size
    expect(distinct).toBeLessThanOrEqual(outlasts ? 1 : Infinity)
  }

  const wrong = redemptions.filter(
    ({ ending }) => ending.kind === 'refused' && ending.reason === 'wrong_verifier',
  )
  expect(wrong.length).toBeLessThanOrEqual(5)
  const wrongBefore = wrong.filter(({ ended }) => won.some(({ began }) => ended.turn < began.turn))
  expect(wrongBefore.length).toBeLessThan(5)

  const replays = redemptions.filter(
    (operation) =>
      !isStranger(operation) &&
      wasAnswered(operation) &&
      won.some(
        (winner) =>
          winner !== operation &&
          // A right redemption beside the winner saw what it wrote; a wrong one may have come before it.
          (operation.began.turn > winner.ended.turn ||
            (operation.act.verifier === 'right' && operation.began.now < noon + usual.authorizationCode)),
      ),
  )
  const reuses = history
    .of('refresh')
    .filter((one) => !isStranger(one) && wasAnswered(one) && wasOutOfUse(history, one))
  expect(reuses.filter(tokensOf)).toEqual([])
  const revocations = history.of('revoke').filter(({ ending }) => ending.kind === 'revoked')
  const endings = { replays: replays.length, reuses: reuses.length, revocations: revocations.length }
  const isOver = replays.length + reuses.length + revocations.length > 0
  expect(isOver ? valid : []).toEqual([])

  const counted = { strangers, good, won, decisions, answers, wrong: wrong.length === 5 ? wrong : [] }
  return {
    ...endings,
    ...Object.fromEntries(Object.entries(counted).map(([name, some]) => [name, some.length])),
  }
}

const refreshes = plans({ refresh: 6, wait: 2, redeem: 1 })

it.each<[string, Workload, readonly string[]]>([
  [
    'decisions',
    { before: [], plans: plans({ approve: 6, deny: 6, redeem: 2, wait: 1 }) },
    ['decisions', 'strangers', 'good'],
  ],
  [
    'redemptions',
    { before: [approve], plans: plans({ redeem: 6, refresh: 2, wait: 1 }) },
    ['won', 'replays', 'strangers'],
  ],
  ['guesses', { before: [approve], plans: plans({ guess: 6, redeem: 2 }) }, ['wrong', 'won']],
  ...[{}, { accessToken: 10 }, { refreshTokenGrace: 0 }].map(
    (lifetimes): [string, Workload, readonly string[]] => [
      `refreshes with ${JSON.stringify(lifetimes)}`,
      { before: [approve, redeem], plans: refreshes, lifetimes },
      ['answers', 'reuses', 'replays', 'strangers'],
    ],
  ),
  [
    'revocations',
    { before: [approve], plans: plans({ redeem: 6, refresh: 6, revoke: 2 }) },
    ['revocations', 'answers'],
  ],
])(
  'With any interleaving of %s, on a bad network: one winner, an end after a replay, equal answers, nothing for strangers',
  async (_what, workload, names) => {
    const named = async (history: History) => {
      const cases = await judged(history)
      return Object.fromEntries(names.map((name) => [name, cases[name] ?? 0]))
    }
    expect(await holds(workload, named)).toEqual([])
  },
)

it('Of any number of owners who claim a pushed request at once, one gets its form, however often, and the others nothing', async () => {
  const claimed = (name: 'alice' | 'mallory'): Move => ({ move: 'claim', owner: name, client: 'printer' })
  const anyOwner = fc.constantFrom(claimed('alice'), claimed('mallory')).map((move) => [move, move])
  const plansOfOwners = fc.array(anyOwner, { minLength: 2, maxLength: 5 })
  const belongsToOne = async (history: History) => {
    const claims = history.of('claim')
    const won = claims.filter(({ ending }) => ending.kind === 'form')
    expect(new Set(won.map(({ act, ending }) => act.owner + JSON.stringify(ending))).size).toBeLessThan(2)
    const [winner] = won.map(({ act }) => act.owner)
    const lost = claims.filter(({ act }) => act.owner !== winner)
    const record = (await history.world.records.find(history.world.id))?.authorization
    expect(winner === undefined || record?.subject === winner).toBe(true)
    return { won: won.length, lost: lost.length }
  }
  const workload: Workload = { before: [], plans: plansOfOwners, beginning: 'pushed' }
  expect(await holds(workload, belongsToOne)).toEqual([])
})

describe('What an honest client may count on:', () => {
  it('one redemption alone wins, whichever replies are lost', async () => {
    const workload: Workload = { before: [approve], plans: fc.constant([[redeem]]), network: lossyNetwork }
    const wins = async ({ operations }: History) => {
      expect(operations.at(-1)?.ending.kind).toBe('tokens')
      return { redemptions: 1 }
    }
    expect(await holds(workload, wins)).toEqual([])
  })

  it('of parallel redemptions exactly one wins, and the others revoke what it won', async () => {
    const workload: Workload = { before: [approve], plans: parallel(redeem, 2), network: fc.constant([]) }
    const hasOneWinner = async (history: History) => {
      expect(history.of('redeem').filter(tokensOf)).toHaveLength(1)
      expect(await history.validCredentials()).toEqual([])
      return { races: 1 }
    }
    expect(await holds(workload, hasOneWinner)).toEqual([])
  })

  it('tokens stay valid without replay, reuse and revocation', async () => {
    const network = lossyNetwork
    const workload: Workload = { before: [approve, redeem], plans: refreshes, network, lifetimes: {} }
    const survive = async (history: History) => {
      const isOver = ({ ending }: Operation) =>
        ending.kind === 'refused' && /replayed|reused/.test(ending.reason)
      if (history.operations.some(isOver)) return { survivors: 0 }
      const [newest] = [...history.lineage().values()].toSorted((one, other) => other.depth - one.depth)
      const issued = newest && tokensOf(newest.delivery)
      const valid = await history.validCredentials()
      expect(valid).toEqual(expect.arrayContaining([issued?.accessToken, issued?.refreshToken]))
      return { survivors: 1 }
    }
    expect(await holds(workload, survive)).toEqual([])
  })

  it.each<[string, Move, readonly Move[]]>([
    ['approvals of one form', approve, []],
    ['refreshes with one token', refresh, [approve, redeem]],
  ])(
    'parallel %s all get the same answer, whatever the network does, if they try again',
    async (_what, move, before) => {
      const workload: Workload = { before, plans: parallel(move), lifetimes: {}, persistent: true }
      const areEqual = async ({ operations }: History) => {
        const answers = operations.slice(before.length).filter(wasAnswered)
        expect(new Set(answers.map(({ ending }) => JSON.stringify(ending))).size).toBe(1)
        expect(answers.every(({ ending }) => isGood(ending))).toBe(true)
        return { answers: answers.length }
      }
      expect(await holds(workload, areEqual)).toEqual([])
    },
  )
})
