import { setTimeout } from 'node:timers/promises'
import type { Chance } from '../support/chance'
import type { Act } from './acts'
import { grantedBy, type Answer } from './history'
import { service, television } from './parties'
import type { Recorder } from './recorder'

/** A pair as it came: the access token and its refresh token. */
type Pair = readonly [accessToken: string, refreshToken: string]
/** The pairs of one authorization, oldest first. */
type Pairs = [Pair, ...Pair[]]

interface Manner {
  /** Shares of 1: of what it does, races; and of what it does with tokens, revocations and replays. */
  readonly races: number
  readonly ends: number
  readonly signal: AbortSignal
}

// Milliseconds between two requests at most.
const pause = 20
// The share of redemptions, polls and refreshes that are sent twice at once.
const doubles = 0.3

/** What is raced at each stage of an authorization: a credential for each act. */
type Race = readonly [act: Act, presented: string]

/** Clients and owners, one authorization after the other until they are told to stop: they do right and wrong, at random. */
export class Visitor {
  private line = 0

  constructor(
    private readonly recorder: Recorder,
    private readonly chance: Chance,
    private readonly manner: Manner,
  ) {}

  async stay(): Promise<void> {
    while (!this.isOver) await this.visit()
  }

  private get isOver(): boolean {
    return this.manner.signal.aborted
  }

  private happens(share: number): boolean {
    return this.chance.share() < share
  }

  private async visit(): Promise<void> {
    if (this.happens(this.manner.races)) return this.race()
    const choice = this.chance.share()
    if (choice < 0.5) await this.authorize()
    else if (choice < 0.65) await this.work()
    else if (choice < 0.8) await this.register()
    else await this.connect()
  }

  /** One authorization, from the question to its end, if it comes to one. */
  private async authorize(): Promise<void> {
    this.line = this.recorder.newLine()
    const [form] = await this.insist('ask', '')
    const [code] = form === undefined ? [] : await this.insist('decide', form)
    if (code === undefined) return
    // A double click, or a thief: of both at most one may win, and what it won must be dead.
    const isDouble = this.happens(doubles)
    const answers = isDouble
      ? await Promise.all([this.once('redeem', code), this.once('redeem', code)])
      : [await this.insisted('redeem', code)]
    const pair = pairOf(answers.flatMap((answer) => grantedBy({ answer })))
    if (pair === undefined) return
    await this.look([pair])
    if (!isDouble || answers.every(({ kind }) => kind !== 'refused')) await this.live(code, [pair])
  }

  private async live(code: string | undefined, pairs: Pairs): Promise<void> {
    const { line } = this
    // A resource server acts in the name of the owner: what it gets lives on when the owner's tokens end.
    const exchanged = this.happens(0.3) ? await this.exchange(pairs) : undefined
    await this.useUntilEnd(code, pairs)
    this.line = line
    // After the end of the line nothing is exchanged any more.
    if (this.happens(0.3)) await this.exchange(pairs)
    if (exchanged !== undefined) await this.use(exchanged.line, exchanged.accessToken)
  }

  private async exchange(pairs: Pairs) {
    return this.recorder.exchange(await this.nextServer(), this.line, pairs[0][0])
  }

  private async useUntilEnd(code: string | undefined, pairs: Pairs): Promise<void> {
    while (!this.isOver && pairs.length < 7) {
      if (this.happens(this.manner.ends)) {
        await this.end(code, pairs)
        return this.look(pairs)
      }
      if (this.happens(0.6)) await this.look(pairs)
      else {
        const next = await this.refresh(pairs)
        if (next === undefined) return this.look(pairs)
        pairs.push(next)
      }
    }
  }

  private async refresh(pairs: Pairs): Promise<Pair | undefined> {
    const [, refreshToken] = pairs.at(-1) ?? pairs[0]
    const times = this.happens(doubles) ? 2 : 1
    const all = Array.from({ length: times }, () => this.insist('refresh', refreshToken))
    return pairOf((await Promise.all(all)).flat())
  }

  /** A revocation, or one of the two replays that revoke. */
  private async end(code: string | undefined, pairs: Pairs): Promise<void> {
    const choice = this.chance.share()
    if (choice < 0.3 && code !== undefined) await this.insist('redeem', code)
    else if (choice < 0.6 && pairs.length > 2) await this.insist('refresh', pairs[0][1])
    else await this.insist('revoke', this.chance.any(this.chance.any(pairs)))
  }

  /** Looks what the tokens are good for. */
  private async look(pairs: Pairs): Promise<void> {
    const [accessToken] = this.chance.any(pairs)
    await this.once('guard', accessToken)
    await this.once('introspect', accessToken)
  }

  /** A machine gets a token for itself, uses it, and revokes it. */
  private async work(): Promise<void> {
    this.line = this.recorder.newLine(service)
    const [accessToken] = grantedBy({ answer: await this.once('grant', '') })
    if (accessToken !== undefined) await this.use(this.line, accessToken)
  }

  private async use(line: number, accessToken: string): Promise<void> {
    this.line = line
    while (!this.isOver && this.happens(0.7))
      await this.once(this.happens(0.5) ? 'guard' : 'introspect', accessToken)
    if (this.happens(0.2)) return
    await this.insist('revokeOwn', accessToken)
    await this.once('guard', accessToken)
  }

  private async register(): Promise<void> {
    this.line = this.recorder.newLine(service)
    const [registration] = await this.insist('register', '')
    if (registration === undefined) return
    const read = () => this.once(this.happens(0.5) ? 'configure' : 'authenticate', registration)
    while (!this.isOver && this.happens(0.6)) await read()
    if (this.happens(0.2)) return
    await this.insist('unregister', registration)
    await read()
  }

  /** A device shows its code, its owner allows it, and it polls, perhaps twice at once. */
  private async connect(): Promise<void> {
    this.line = this.recorder.newLine(television)
    const [deviceCode, userCode] = await this.insist('begin', '')
    if (deviceCode === undefined || userCode === undefined) return
    if (this.happens(0.3)) await this.once('poll', deviceCode)
    const [form] = await this.insist('enter', userCode)
    if (form === undefined) return
    const times = this.happens(doubles) ? 2 : 1
    const both = <T>(act: () => Promise<T>) => Promise.all(Array.from({ length: times }, act))
    await both(() => this.insist('allow', form))
    const polls = await both(() => this.insist('poll', deviceCode))
    const pair = pairOf(polls.flat())
    if (pair !== undefined) await this.live(undefined, [pair])
  }

  /** Prepares an authorization, and lets several requests race for it, at one server or at several. */
  private async race(): Promise<void> {
    this.line = this.recorder.newLine()
    const racers = await this.prepare()
    if (racers === undefined) return
    const apart = this.happens(0.5)
    const first = await this.nextServer()
    const moves = [0, 1].flatMap(() => {
      const move = this.chance.any(racers)
      return this.happens(0.33) ? [move, move] : [move]
    })
    await Promise.all(
      this.chance.shuffled(moves).map(async ([act, presented], place) => {
        await setTimeout(this.chance.among([0, 0, 0, 1, 2, 3]))
        const at = apart ? this.awake(first + place) : first
        const answer = await this.recorder.attempt(at, this.line, act, presented)
        // What came is used right away, anywhere.
        const pair = act === 'redeem' || act === 'refresh' ? pairOf(grantedBy({ answer })) : undefined
        if (pair !== undefined) await this.look([pair])
      }),
    )
  }

  private async prepare(): Promise<readonly Race[] | undefined> {
    const stage = this.chance.among(['pending', 'approved', 'active', 'active'])
    const [form] = await this.insist('ask', '')
    if (form === undefined) return undefined
    const decisions: readonly Race[] = [
      ['decide', form],
      ['deny', form],
    ]
    if (stage === 'pending') return decisions
    const [code] = await this.insist('decide', form)
    if (code === undefined) return undefined
    if (stage === 'approved') return [...decisions, ['redeem', code]]
    const first = pairOf(await this.insist('redeem', code))
    const second = first && pairOf(await this.insist('refresh', first[1]))
    const third = second && pairOf(await this.insist('refresh', second[1]))
    if (first === undefined || second === undefined || third === undefined) return undefined
    const refreshes = [first, second, third].map(([, token]): Race => ['refresh', token])
    const [accessToken, refreshToken] = this.chance.any([first, second, third])
    const ends = [accessToken, refreshToken].map((token): Race => ['revoke', token])
    const looks = (['guard', 'introspect'] as const).map((act): Race => [act, accessToken])
    return [...decisions, ['redeem', code], ...refreshes, ...ends, ...looks]
  }

  private async insist(act: Act, presented: string): Promise<readonly string[]> {
    return grantedBy({ answer: await this.insisted(act, presented) })
  }

  /** Sends the same again after trouble, to any server, as an honest client does. */
  private async insisted(act: Act, presented: string): Promise<Answer> {
    for (;;) {
      const answer = await this.once(act, presented)
      const isOpen = answer.kind === 'trouble' || answer.kind === 'unanswered'
      if (!isOpen || this.isOver) return answer
      await setTimeout(100)
    }
  }

  private async once(act: Act, presented: string): Promise<Answer> {
    const { line } = this
    return this.recorder.attempt(await this.nextServer(), line, act, presented)
  }

  /** After a pause, any server that does not rest. */
  private async nextServer(): Promise<number> {
    await setTimeout(this.chance.share() * pause)
    return this.awake(this.chance.below(this.recorder.servers))
  }

  private awake(server: number): number {
    const { servers, resting } = this.recorder
    const place = server % servers
    return place === resting ? (place + 1) % servers : place
  }
}

function pairOf([accessToken, refreshToken]: readonly string[]): Pair | undefined {
  return accessToken === undefined || refreshToken === undefined ? undefined : [accessToken, refreshToken]
}
