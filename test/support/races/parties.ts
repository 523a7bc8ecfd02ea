import type { Ask, Pair } from './asks'
import type { Connections } from './connections'
import { processes, type Operation } from './plan'
import { readingOf, type OptionsReader } from './readings'

/** One answer as its party saw it; the times are of one clock. */
export interface Answer extends OptionsReader {
  readonly phase: 'before' | 'race' | 'after'
  readonly operation: Operation
  readonly server: number
  readonly presented: string
  readonly began: number
  readonly ended: number
}

/** Whoever asks in one round, and all that they were told. */
export class Parties {
  readonly answers: Answer[] = []

  constructor(
    private readonly origins: readonly string[],
    private readonly connections: Connections,
  ) {}

  async ask(phase: Answer['phase'], operation: Operation, server: number, ask: Ask): Promise<Answer> {
    const began = performance.now()
    const reading = await this.connections
      .ask(this.origins[server % processes] ?? '', ask)
      .then(readingOf, (error: unknown) => ({
        word: `no answer: ${String(error)}`,
      }))
    const { presented } = ask
    const answer = { phase, operation, server, presented, began, ended: performance.now(), ...reading }
    this.answers.push(answer)
    return answer
  }

  /** Every pair that came so far, once, the newest last. */
  pairs(): readonly Pair[] {
    const came = this.answers.flatMap(({ pair }) => pair ?? [])
    return [...new Map(came.map((pair) => [pair.accessToken, pair])).values()]
  }
}
