import { setImmediate } from 'node:timers/promises'

/** Waits until it is this call's turn. */
export type Turn = (label: string) => Promise<void>

/**
 * Lets waiting calls go on one after the other, in the order that a plan chooses. After the end of the plan, the call
 * that has waited longest goes first. Each choice waits until all calls have gone as far as they can.
 */
export class Scheduler {
  /** The labels of the calls in their order, for the message of a broken invariant. */
  readonly log: string[] = []
  private readonly waiting: { readonly label: string; readonly go: () => void }[] = []

  constructor(private readonly plan: Iterator<number>) {}

  readonly take: Turn = (label) =>
    new Promise<void>((go) => {
      this.waiting.push({ label, go })
    })

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
