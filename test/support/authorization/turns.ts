import { setImmediate } from 'node:timers/promises'

/** Waits until it is this call's turn. */
export type Turn = (label: string) => Promise<void>

/**
 * Lets everybody who waits go on one after the other, in the order that a plan chooses; where the plan ends, whoever
 * has waited longest goes first. Nobody is chosen before all others have gone as far as they can.
 */
export class Turns {
  /** Who went on, in order: the story of a history that breaks a law. */
  readonly log: string[] = []
  private readonly waiting: { readonly label: string; readonly go: () => void }[] = []

  constructor(private readonly plan: Iterator<number>) {}

  readonly take: Turn = (label) =>
    new Promise<void>((go) => {
      this.waiting.push({ label, go })
    })

  /** Goes on until nobody waits any more. */
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
