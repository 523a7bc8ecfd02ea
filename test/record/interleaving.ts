import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import type { Issued } from '../../lib/authorization/issue'
import { accessIn } from '../../lib/authorization/lookup'
import { digest } from '../../lib/protocol/credential'
import { redeemCode, rotateRefreshToken } from '../../lib/authorization/redeem'
import { decodeAuthorization, encodeAuthorization } from '../../lib/authorization/codec'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { extent } from '../support/extent'
import { type Act, type Ending, type Move, request, StoreTrouble, type Terms, usual, World } from './world'
import { noon } from '../support/noon'

/** The outcome of one call to a store on a bad network. */
type CallOutcome =
  | 'served'
  | 'applied, reply lost, sent again'
  | 'applied, then rejected'
  | 'rejected'
  | 'rejected, applied late'

/** Waits until it is this call's turn. */
type Turn = (label: string) => Promise<void>

/**
 * Lets waiting calls go on one after the other, in the order that a plan chooses. After the end of the plan, the call
 * that has waited longest goes first. Each choice waits until all calls have gone as far as they can.
 */
class Scheduler {
  /** The labels of the calls in their order, for the message of a broken invariant. */
  readonly log: string[] = []
  private readonly waiting: { readonly label: string; readonly go: () => void }[] = []

  constructor(private readonly plan: Iterator<number>) {}

  readonly take: Turn = (label) => new Promise<void>((go) => void this.waiting.push({ label, go }))

  /** Goes on until no call waits any more. */
  async untilSettled(): Promise<void> {
    for (;;) {
      await setImmediate()
      const next = this.plan.next()
      const [chosen] = this.waiting.splice(next.done === true ? 0 : next.value % this.waiting.length, 1)
      if (chosen === undefined) return
      this.log.push(chosen.label)
      chosen.go()
    }
  }
}

/** A store behind a bad network: each call waits its turn on the way there and back, and meets the next outcome of the plan. */
class UnreliableStore implements AuthorizationStore {
  /** Calls that write. */
  writes = 0
  /** Whether the last of them was acknowledged. */
  acknowledged = false

  constructor(
    private readonly inner: AuthorizationStore,
    private readonly turn: Turn,
    private readonly outcomes: Iterator<CallOutcome>,
  ) {}

  find: AuthorizationStore['find'] = (id) => this.call('find', () => this.inner.find(id))

  save: AuthorizationStore['save'] = (authorization, revision, expected) => {
    const kept = decodeAuthorization(authorization.id, encodeAuthorization(authorization))
    return this.write(() => this.call('save', () => this.inner.save(kept, revision, expected)))
  }

  remove: AuthorizationStore['remove'] = (id) =>
    this.write(() => this.call('remove', () => this.inner.remove(id)))

  private async write<Reply>(write: () => Promise<Reply>): Promise<Reply> {
    this.writes++
    this.acknowledged = false
    const reply = await write()
    this.acknowledged = reply !== false
    return reply
  }

  private async call<Reply>(verb: string, apply: () => Promise<Reply>): Promise<Reply> {
    const next = this.outcomes.next()
    const outcome = next.done === true ? 'served' : next.value
    await this.turn(`${verb}, ${outcome}`)
    if (outcome === 'rejected, applied late') void this.turn(`${verb}, applied late`).then(apply)
    if (outcome === 'rejected' || outcome === 'rejected, applied late') throw new StoreTrouble('Not reached.')
    const reply = await apply()
    await this.turn(`${verb}, reply`)
    if (outcome === 'applied, then rejected') throw new StoreTrouble('The reply is lost.')
    if (outcome !== 'applied, reply lost, sent again') return reply
    const second = await apply()
    await this.turn(`${verb}, reply to the second`)
    return second
  }
}

/** A moment: turns order the moves of all workers, and the clock moves when a worker waits. */
interface Moment {
  readonly turn: number
  readonly now: number
}

/** A move that was made: what was presented, when, and how it ended. */
export interface Operation {
  readonly act: Act
  readonly presented: string
  readonly began: Moment
  readonly ended: Moment
  readonly ending: Ending
  readonly writes: number
  /** Whether its last write was acknowledged. */
  readonly acknowledged: boolean
}

type Of<Kind extends Act['move']> = Operation & { readonly act: Extract<Act, { move: Kind }> }

/** The tokens that an operation brought to its client. */
export const tokensOf = ({ ending }: Operation): Issued | undefined =>
  ending.kind === 'tokens' ? ending.issued : undefined

/** What several workers did with one authorization, on a bad network. */
export class History {
  readonly operations: Operation[] = []
  private turns = 0

  constructor(readonly world: World) {}

  /** The operations of some kinds, in the order in which they ended. */
  of<Kind extends Act['move']>(...kinds: readonly Kind[]): readonly Of<Kind>[] {
    return this.operations.filter((operation): operation is Of<Kind> =>
      kinds.some((kind) => kind === operation.act.move),
    )
  }

  async make(move: Move, store: UnreliableStore): Promise<Ending | undefined> {
    const { world } = this
    if (move.move === 'wait') {
      world.now += move.seconds
      return undefined
    }
    const presented = world.presentedBy(move)
    if (presented === undefined) return undefined
    const began = this.moment()
    const ending = await world.make(move, presented, store)
    const { writes, acknowledged } = store
    this.operations.push({ act: move, presented, began, ended: this.moment(), ending, writes, acknowledged })
    return ending
  }

  private moment(): Moment {
    return { turn: this.turns++, now: this.world.now }
  }

  /** Each refresh token that was delivered: how many refreshes it is away from the code, and its first delivery. */
  lineage(): ReadonlyMap<string, { readonly depth: number; readonly delivery: Operation }> {
    const known = new Map<string, { readonly depth: number; readonly delivery: Operation }>()
    for (const operation of this.operations) {
      const token = tokensOf(operation)?.refreshToken
      const depth = (known.get(operation.presented)?.depth ?? -1) + 1
      if (token !== undefined && !known.has(token)) known.set(token, { depth, delivery: operation })
    }
    return known
  }

  /** Every credential ever made that the server would still take, even if its time were not up. */
  async validCredentials(): Promise<readonly string[]> {
    const { world } = this
    const record = (await world.records.find(world.id))?.authorization
    const at = { ...world.context(), now: noon }
    const own = {
      clientId: 'printer',
      redirectUri: request.redirectUri,
      refreshToken: true,
      scope: undefined,
    }
    return [...world.made].filter((text) => {
      if (text.startsWith('ac_')) return 'outcome' in redeemCode(record, { ...own, code: text }, at)
      if (text.startsWith('at_')) return accessIn(record, digest(text), undefined, noon) !== undefined
      return (
        'outcome' in
        rotateRefreshToken(record, { clientId: 'printer', refreshToken: text, scope: undefined }, at)
      )
    })
  }
}

/** What several workers do with one authorization at the same time. */
export interface Workload {
  /** Moves before the workers begin. */
  readonly before: readonly Move[]
  /** The moves of each worker. */
  readonly plans: fc.Arbitrary<readonly (readonly Move[])[]>
  readonly network?: fc.Arbitrary<readonly CallOutcome[]>
  /** What is not usual about the terms; without any, runs with the usual grace and without mix. */
  readonly lifetimes?: Partial<Terms['lifetimes']>
  readonly beginning?: Terms['beginning']
  /** Whether a worker repeats a move until the server gives an answer. */
  readonly persistent?: boolean
}

/** The outcomes of the first calls to the store. */
const badNetwork = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<CallOutcome>('served') },
    { weight: 3, arbitrary: fc.constant<CallOutcome>('applied, reply lost, sent again') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('applied, then rejected') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('rejected') },
    { weight: 1, arbitrary: fc.constant<CallOutcome>('rejected, applied late') },
  ),
  { maxLength: 40 },
)

/** A network that loses replies, and a client library that sends again what was not answered. */
export const lossyNetwork: fc.Arbitrary<readonly CallOutcome[]> = fc.array(
  fc.constantFrom<CallOutcome>('served', 'applied, reply lost, sent again'),
  { maxLength: 40 },
)

/**
 * Runs random interleavings of a workload, and checks invariants after each. They return how many cases of each the run
 * had. Resolves to those without any case, which prove nothing.
 */
export async function holds(
  { before, plans, network = badNetwork, lifetimes, beginning = 'form', persistent = false }: Workload,
  invariants: (history: History) => Promise<Readonly<Record<string, number>>>,
): Promise<readonly string[]> {
  const cases: Record<string, number> = {}
  const others =
    lifetimes === undefined ? fc.constantFrom({}, { refreshTokenGrace: 0 }) : fc.constant(lifetimes)
  const order = fc.uint8Array({ maxLength: 300 })
  const played = fc.asyncProperty(plans, network, order, others, async (works, outcomes, plan, bend) => {
    const scheduler = new Scheduler(plan.values())
    const terms = {
      beginning,
      tokenType: 'stamped',
      keeps: false,
      lifetimes: { ...usual, ...bend },
    } as const
    const history = new History(new World(terms))
    const { records } = history.world
    await history.world.begin()
    const calm = () => new UnreliableStore(records, async () => {}, [].values())
    for (const move of before) await history.make(move, calm())
    const calls = outcomes.values()
    const work = async (name: string, moves: readonly Move[]) => {
      const turn: Turn = (label) => scheduler.take(`${name}: ${label}`)
      for (const move of moves) {
        await turn(JSON.stringify(move))
        for (let times = 0; times < 50; times++) {
          const ending = await history.make(move, new UnreliableStore(records, turn, calls))
          if (!persistent || ending?.kind !== 'trouble') break
        }
      }
    }
    const workers = works.map((moves, index) => work(`worker ${index}`, moves))
    await Promise.all([scheduler.untilSettled(), ...workers])
    try {
      for (const [name, count] of Object.entries(await invariants(history)))
        cases[name] = (cases[name] ?? 0) + count
    } catch (cause) {
      throw new Error(`An invariant is broken after these turns:\n${scheduler.log.join('\n')}`, { cause })
    }
  })
  await fc.assert(played, { numRuns: extent(30, 600), seed: extent(20_261_126, Date.now()) })
  return Object.keys(cases).filter((name) => cases[name] === 0)
}
