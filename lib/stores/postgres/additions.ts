import { inTime } from '../../primitives/deadlines'
import type { Count } from '../store'

/** Resolves to the count as it is stored, below 0 too. */
type Send = (key: string, amount: number, seconds: number) => Promise<Count>

interface Addition {
  readonly amount: 1 | -1
  readonly seconds: number
  readonly resolve: (count: Count) => void
  readonly reject: (error: unknown) => void
}

/**
 * Additions of this process to one key that wait for the statement before them go together in the next: they all run at
 * the same time, so any order is right.
 */
export class Additions {
  /** By key, while a statement is under way. */
  private readonly waiting = new Map<string, readonly Addition[]>()

  constructor(private readonly send: Send) {}

  add(key: string, amount: 1 | -1, seconds: number): Promise<Count> {
    return new Promise((resolve, reject) => {
      const others = this.waiting.get(key)
      this.waiting.set(key, [...(others ?? []), { amount, seconds, resolve, reject }])
      if (others === undefined) void this.sendWaiting(key)
    })
  }

  private async sendWaiting(key: string): Promise<void> {
    for (;;) {
      const [first, ...others] = this.waiting.get(key) ?? []
      if (first === undefined) break
      const isLike = ({ amount, seconds }: Addition) => amount === first.amount && seconds === first.seconds
      this.waiting.set(
        key,
        others.filter((other) => !isLike(other)),
      )
      await this.sendTogether(key, [first, ...others.filter(isLike)], first)
    }
    this.waiting.delete(key)
  }

  private async sendTogether(key: string, together: readonly Addition[], { amount, seconds }: Addition) {
    try {
      const stored = await inTime(() => this.send(key, amount * together.length, seconds), silence)
      together.forEach(({ resolve }, index) => {
        const count = Math.max(0, stored.count - amount * (together.length - 1 - index))
        resolve({ count, secondsLeft: count === 0 ? 0 : stored.secondsLeft })
      })
    } catch (error) {
      for (const { reject } of together) reject(error)
    }
  }
}

/** Others to the same key must not wait behind a connection that is dead. */
const silence = { seconds: 2, late: () => new Error('The pool did not reply within 2 s.') }
