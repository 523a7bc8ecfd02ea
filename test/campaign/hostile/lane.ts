import { setTimeout } from 'node:timers/promises'
import { Chance } from '../../support/chance'
import type { Attempt } from './attempt'
import type { Sent } from './answers'
import { mutate } from './mutations'
import type { Notes } from './notes'
import type { ValidRequests } from './requests'

/** One sender, whose choices come again with its seed. */
export class Lane {
  private readonly chance: Chance
  private readonly ready = new Map<string, { attempt: Attempt; left: number }>()
  private expired: Attempt[] = []
  private last: Attempt | undefined

  constructor(
    private readonly valid: ValidRequests,
    seed: number,
    private readonly record: Notes,
  ) {
    this.chance = new Chance(seed)
  }

  /** Sends so many requests of these kinds, until it is told to stop. */
  async send(count: number, kinds: readonly string[], isOver: () => boolean): Promise<void> {
    for (let sent = 0; sent < count && !this.record.isFull && !isOver(); sent++)
      await this.sendOne(this.chance.any(kinds))
  }

  /** What was ready is over: after forty days every credential is too old. */
  outlive(): void {
    const ready = [...this.ready.values()].map(({ attempt }) => attempt)
    this.expired = ready.filter(({ once, dies }) => once || dies !== undefined)
    this.ready.clear()
  }

  private async sendOne(kind: string): Promise<void> {
    const mark = `zq${this.chance.below(2 ** 31).toString(36)}qz`
    const turn = this.chance.below(40)
    const [expired] = this.expired
    if (turn === 0 && expired !== undefined) {
      this.expired.shift()
      return this.judge({ attempt: expired, message: expired.message, mark, dead: 'it has expired' })
    }
    const attempt = await this.attemptOf(kind)
    // Something breaks, and is soon over.
    if (attempt === undefined) return setTimeout(20)
    if (turn === 1 && this.record.isCalm) return this.tryDead(attempt, mark)
    const other = this.last ?? attempt
    const means = { chance: this.chance, mark, other: other.message }
    this.last = attempt
    await this.judge({ attempt, message: mutate(attempt.message, means), mark, other })
  }

  // Used up or revoked, though not a byte of it has changed.
  private async tryDead(attempt: Attempt, mark: string): Promise<void> {
    this.ready.delete(attempt.kind)
    const { message, dies, once } = attempt
    if (dies !== undefined) await this.valid.send(this.valid.revocationOf(dies))
    else if (once) await this.valid.useUp(attempt)
    const dead = dies === undefined ? 'it was used' : 'its token was revoked'
    await this.judge({ attempt, message, mark, ...(once || dies !== undefined ? { dead } : {}) })
  }

  // Most mutated requests change nothing on the server, so that one preparation serves several of them; but a code is
  // burnt by five failures, and after that nothing about it is tried.
  private async attemptOf(kind: string): Promise<Attempt | undefined> {
    const ready = this.ready.get(kind)
    if (ready !== undefined && ready.left-- > 0) return ready.attempt
    try {
      const attempt = await this.valid.make(kind)
      this.ready.set(kind, { attempt, left: attempt.once ? 2 : 12 })
      return attempt
    } catch (error) {
      this.record.lacks(kind, String(error))
      return undefined
    }
  }

  private async judge(sent: Sent): Promise<void> {
    const answer = await this.valid.send(sent.message)
    this.record.take(sent, answer)
    if (sent.attempt.won(answer) && sent.attempt.once) this.ready.delete(sent.attempt.kind)
  }
}
