import * as fc from 'fast-check'
import { expiryOf } from '../../lib/authorization/authorization'
import { encodeAuthorization } from '../../lib/authorization/codec'
import { accessIn, findRefreshTokenIn } from '../../lib/authorization/lookup'
import { digest } from '../../lib/protocol/credential'
import { redeemCode } from '../../lib/authorization/redeem'
import { extent } from '../support/extent'
import { leaked } from './leaked'
import { Model } from './model'
import { request, type Act, type Move, type Terms, usual, World } from './world'

/** One move of a history: it must end as the rules say, and every credential must be good exactly as long as they say. */
class Step implements fc.AsyncCommand<Model, World> {
  constructor(private readonly move: Move) {}

  check = (): boolean => true

  async run(model: Model, world: World): Promise<void> {
    const { move } = this
    if (move.move === 'wait') {
      world.now += move.seconds
      model.wait(move.seconds)
    } else await play(move, model, world)
    await expectInvariants(model, world)
  }

  toString = (): string => JSON.stringify(this.move)
}

async function play(act: Act, model: Model, world: World): Promise<void> {
  const presented = world.presentedBy(act)
  if (presented === undefined) return
  const expected = model.expect(act, presented)
  const ending = await world.make(act, presented)
  expect(ending.kind === 'refused' ? ending.reason : ending.kind).toBe(expected)
  expect(model.learn(act, presented, ending)).toEqual([])
  counts.set(expected, (counts.get(expected) ?? 0) + 1)
}

const counts = new Map<string, number>()

async function expectInvariants(model: Model, world: World): Promise<void> {
  const record = (await world.records.find(world.id))?.authorization
  const { now } = world
  const redemption = { clientId: 'printer', redirectUri: request.redirectUri, refreshToken: true }
  const good = [...world.made].filter((text) => {
    if (text.startsWith('ac_'))
      return 'outcome' in redeemCode(record, { ...redemption, code: text }, world.context())
    return text.startsWith('at_')
      ? accessIn(record, digest(text), undefined, now) !== undefined
      : findRefreshTokenIn(record, text, world.context()) !== undefined
  })
  expect(good.toSorted()).toEqual(model.good().toSorted())
  expect(record === undefined).toBe(model.state === 'gone')
  if (record === undefined) return
  expect(record.state).toBe(model.state)
  expect(expiryOf(record)).toBeGreaterThan(now)
  expect(leaked(encodeAuthorization(record), world.made)).toEqual([])
}

const mostly = <T extends string>(often: T, rarely: T) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(often) }, { weight: 1, arbitrary: fc.constant(rarely) })
const client = mostly('printer', 'mallory')
const owner = mostly('alice', 'mallory')
const token = fc.oneof(
  { weight: 5, arbitrary: fc.constant(-1) },
  { weight: 3, arbitrary: fc.constant(-2) },
  { weight: 1, arbitrary: fc.nat({ max: 9 }) },
)
const moves: Readonly<Record<Move['move'], fc.Arbitrary<Move>>> = {
  claim: fc.record({ move: fc.constant('claim'), owner, client }),
  approve: fc.record({ move: fc.constant('approve'), owner }),
  deny: fc.record({ move: fc.constant('deny'), owner }),
  redeem: fc.record({
    move: fc.constant('redeem'),
    client,
    redirectUri: mostly('right', 'wrong').chain((uri) =>
      mostly<'right' | 'wrong' | 'missing'>(uri, 'missing'),
    ),
    verifier: mostly('right', 'wrong'),
  }),
  poll: fc.record({ move: fc.constant('poll'), client }),
  refresh: fc.record(
    { move: fc.constant('refresh'), client, token, scope: mostly('photos.read', 'admin') },
    { requiredKeys: ['move', 'client', 'token'] },
  ),
  revoke: fc.record({ move: fc.constant('revoke'), client, token }),
  wait: fc.record({
    move: fc.constant('wait'),
    seconds: fc.constantFrom(1, 1, 1, 5, 9, 10, 29, 30, 59, 60, 200, 400, 600, 1000),
  }),
}
const guess = { move: fc.constant('redeem'), client: fc.constant('printer') } as const
const step = (arbitrary: fc.Arbitrary<Move>) => arbitrary.map((move) => new Step(move))
const often = (name: Move['move'], times: number) => Array.from({ length: times }, () => step(moves[name]))

const terms = (beginning: Terms['beginning']): fc.Arbitrary<Terms> =>
  fc.record({
    beginning: fc.constant(beginning),
    tokenType: fc.constantFrom('bearer', 'stamped'),
    keeps: fc.constantFrom(false, false, true),
    lifetimes: fc.record({
      authorizationRequest: fc.constant(usual.authorizationRequest),
      authorizationCode: fc.constant(usual.authorizationCode),
      accessToken: fc.constantFrom(10, usual.accessToken, 2000),
      refreshToken: fc.constant(usual.refreshToken),
      refreshTokenGrace: fc.constantFrom(0, usual.refreshTokenGrace, usual.refreshTokenGrace),
      grant: fc.constantFrom(undefined, undefined, 20, 400),
    }),
  })

/** Histories of one kind: how they begin, of which moves they consist, and what they reach. */
interface Histories {
  readonly terms: fc.Arbitrary<Terms>
  readonly before: readonly Move[]
  readonly steps: readonly fc.Arbitrary<Step>[]
  readonly reached: readonly string[]
}

const approve: Move = { move: 'approve', owner: 'alice' }
const redeem: Move = { move: 'redeem', client: 'printer', redirectUri: 'right', verifier: 'right' }

const histories: Readonly<Record<string, Histories>> = {
  'the form that an owner looks at': {
    terms: terms('form'),
    before: [],
    steps: [
      ...often('approve', 6),
      ...often('deny', 1),
      ...often('redeem', 4),
      ...often('refresh', 1),
      ...often('wait', 2),
    ],
    reached: [
      'code',
      'done',
      'done before',
      'tokens',
      'code_unknown',
      'code_of_another_client',
      'code_replayed',
      'redirect_uri_mismatch',
      'redirect_uri_missing',
      'wrong_verifier',
      'grant_expired',
      'authorization_request_not_open',
      'authorization_request_of_another_owner',
    ],
  },
  'a code that is guessed at': {
    terms: terms('form'),
    before: [approve],
    steps: [
      step(
        fc.record({ ...guess, redirectUri: mostly('right', 'wrong'), verifier: mostly('wrong', 'right') }),
      ),
      ...often('approve', 1),
    ],
    reached: [
      'wrong_verifier',
      'redirect_uri_mismatch',
      'code_burnt',
      'authorization_request_not_open',
      'tokens',
    ],
  },
  'a code that was redeemed': {
    terms: terms('form'),
    before: [approve, redeem],
    steps: [
      step(fc.constant({ move: 'wait', seconds: 1000 })),
      ...often('refresh', 16),
      ...often('wait', 4),
      ...often('revoke', 1),
      ...often('redeem', 1),
    ],
    reached: [
      'tokens',
      'refresh_token_unknown',
      'refresh_token_of_another_client',
      'refresh_token_reused',
      'refresh_token_expired',
      'scope_exceeded',
      'revoked',
      'nothing',
      'code_replayed',
    ],
  },
  'a request that a client pushed': {
    terms: terms('pushed'),
    before: [],
    steps: [...often('claim', 8), ...often('approve', 1), ...often('deny', 1), ...often('wait', 1)],
    reached: [
      'form',
      'code',
      'done',
      'authorization_request_of_another_client',
      'authorization_request_of_another_owner',
      'authorization_request_not_open',
    ],
  },
  'a request that a device polls for': {
    terms: terms('polled'),
    before: [],
    steps: [
      ...often('claim', 2),
      ...often('approve', 3),
      ...often('deny', 1),
      ...often('poll', 6),
      ...often('refresh', 2),
      ...often('revoke', 1),
      ...often('wait', 2),
    ],
    reached: [
      'form',
      'done',
      'owner_has_not_decided',
      'owner_denied',
      'tokens',
      'handle_unknown',
      'revoked',
      'handle_of_another_client',
      'handle_replayed',
      'authorization_request_of_another_owner',
    ],
  },
}

it.each(Object.entries(histories))(
  'In any history of %s each move ends as the rules say, and nothing outlives its time or revives [token-2, code-19, refresh-10]',
  async (_beginning, { terms: anyTerms, before, steps, reached }) => {
    counts.clear()
    const commands = fc.commands([...steps], { maxCommands: 24, size: 'max' })
    const history = fc.asyncProperty(anyTerms, commands, async (chosen, moved) => {
      const [model, world] = [new Model(chosen), new World(chosen)]
      await world.begin()
      for (const move of before) await new Step(move).run(model, world)
      await fc.asyncModelRun(() => ({ model, real: world }), moved)
    })
    await fc.assert(history, { numRuns: extent(60, 2000), seed: extent(20_261_126, Date.now()) })
    // A sequence that reaches nothing proves nothing.
    expect(reached.filter((kind) => (counts.get(kind) ?? 0) === 0)).toEqual([])
  },
)
