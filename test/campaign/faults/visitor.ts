import { setTimeout } from 'node:timers/promises'
import { grantedBy, groupsOf, type Act, type Answer, type Attempt } from './history'
import { oneOf } from './random'
import type { Recorder } from './recorder'

/** A pair as it came: the access token and its refresh token. */
type Pair = readonly [accessToken: string, refreshToken: string]

/** How often a visitor does what: shares of 1. */
export interface Habits {
  /** Redemptions and refreshes that it sends twice at once. */
  readonly doubles: number
  /** Of what it does with tokens: looks, refreshes, and ends. */
  readonly looks: number
  readonly refreshes: number
  readonly ends: number
}

const usualHabits: Habits = { doubles: 0.2, looks: 0.4, refreshes: 0.4, ends: 0.06 }

export interface Rhythm {
  /** Milliseconds between two requests at most. */
  readonly pause: number
  readonly signal: AbortSignal
}

/** The pairs of one authorization, oldest first. */
export type Pairs = [Pair, ...Pair[]]

/** One application with one owner after the other, until it is told to stop: it does right and wrong, at random. */
export class Visitor {
  protected line = 0

  constructor(
    protected readonly recorder: Recorder,
    protected readonly random: () => number,
    protected readonly rhythm: Rhythm,
    private readonly habits = usualHabits,
  ) {}

  async stay(): Promise<void> {
    while (!this.rhythm.signal.aborted) await this.visit()
  }

  /** One authorization, from the question to its end, if it comes to one. */
  protected async visit(): Promise<void> {
    this.line = this.recorder.newLine()
    const [form] = await this.insist('ask', '')
    const [code] = form === undefined ? [] : await this.insist('decide', form)
    if (code === undefined) return
    const pair = await this.redeem(code)
    if (pair === undefined) return
    await this.live(code, [pair])
  }

  private async redeem(code: string): Promise<Pair | undefined> {
    if (this.random() > this.habits.doubles) return pairOf(await this.insist('redeem', code))
    // A double click, or a thief: of both at most one may win, and what it won must be dead.
    const answers = await Promise.all([this.once('redeem', code), this.once('redeem', code)])
    const pairs = answers.map((answer) => pairOf(credentialsOf(answer)))
    const pair = pairs.find((won) => won !== undefined)
    if (pair !== undefined) await this.look([pair])
    return answers.some(({ kind }) => kind === 'refused') ? undefined : pair
  }

  protected async live(code: string, pairs: Pairs): Promise<void> {
    const { looks, refreshes, ends } = this.habits
    while (!this.rhythm.signal.aborted && pairs.length < 7) {
      const choice = this.random()
      if (choice < looks) await this.look(pairs)
      else if (choice < looks + refreshes) {
        const next = await this.refresh(pairs)
        if (next === undefined) return this.look(pairs)
        pairs.push(next)
      } else if (choice < looks + refreshes + ends) {
        await this.end(code, pairs)
        return this.look(pairs)
      }
    }
  }

  private async refresh(pairs: Pairs): Promise<Pair | undefined> {
    const [, refreshToken] = pairs.at(-1) ?? pairs[0]
    if (this.random() > this.habits.doubles) return pairOf(await this.insist('refresh', refreshToken))
    const both = await Promise.all([
      this.insist('refresh', refreshToken),
      this.insist('refresh', refreshToken),
    ])
    return pairOf(both[0]) ?? pairOf(both[1])
  }

  /** A revocation, or one of the two replays that revoke. */
  private async end(code: string, pairs: Pairs): Promise<void> {
    const choice = this.random()
    const [accessToken, refreshToken] = oneOf(this.random, pairs)
    if (choice < 0.3) await this.insist('redeem', code)
    else if (choice < 0.6 && pairs.length > 2) await this.insist('refresh', pairs[0][1])
    else await this.insist('revoke', oneOf(this.random, [accessToken, refreshToken]))
  }

  /** Looks what the tokens are good for. */
  private async look(pairs: Pairs): Promise<void> {
    const [accessToken] = oneOf(this.random, pairs)
    await this.once('guard', accessToken)
    await this.once('introspect', accessToken)
  }

  /** Sends the same again after trouble, to any server, as an honest client does. What was granted; else nothing. */
  protected async insist(act: Act, presented: string): Promise<readonly string[]> {
    for (;;) {
      const answer = await this.once(act, presented)
      const isOpen = answer.kind === 'trouble' || answer.kind === 'unanswered'
      if (!isOpen || this.rhythm.signal.aborted) return credentialsOf(answer)
      await setTimeout(100)
    }
  }

  protected async once(act: Act, presented: string): Promise<Answer> {
    return this.recorder.attempt(await this.nextServer(), this.line, act, presented)
  }

  /** After a pause, any server that does not rest. */
  protected async nextServer(): Promise<number> {
    await setTimeout(this.random() * this.rhythm.pause)
    const { servers, resting } = this.recorder
    const server = Math.floor(this.random() * servers)
    return server === resting ? (server + 1) % servers : server
  }
}

export const credentialsOf = (answer: Answer): readonly string[] => grantedBy({ answer })

function pairOf([accessToken, refreshToken]: readonly string[]): Pair | undefined {
  return accessToken === undefined || refreshToken === undefined ? undefined : [accessToken, refreshToken]
}

/**
 * Presents what authorizations brought, after all that happened: the answers join the record, where the judge finds them.
 *
 * @param most how many authorizations are looked at, from all along.
 */
export async function audit(recorder: Recorder, most: number): Promise<void> {
  const lines = groupsOf(recorder.attempts, ({ line }) => line)
  const stride = Math.ceil(lines.length / most)
  const chosen = lines.filter((_line, index) => index % stride === 0).entries()
  const auditor = async (): Promise<void> => {
    for (const [index, attempts] of chosen) await auditLine(recorder, attempts, index)
  }
  // Several, who share the one list.
  await Promise.all(Array.from({ length: 16 }, auditor))
}

/** Looks once more whether what a line brought is good. */
async function auditLine(recorder: Recorder, attempts: readonly Attempt[], turn: number): Promise<void> {
  const pairs = attempts.filter(({ act }) => act === 'redeem' || act === 'refresh').map(grantedBy)
  const line = attempts[0]?.line ?? 0
  for (const accessToken of new Set(pairs.flatMap((pair) => pair.slice(0, 1))))
    await recorder.attempt(turn, line, 'guard', accessToken)
  // The last one: an earlier one would end the authorization.
  const refreshToken = pairs.flatMap((pair) => pair.slice(1)).at(-1)
  if (refreshToken !== undefined) await recorder.attempt(turn + 1, line, 'refresh', refreshToken)
}
