import type { RaceRequest, Pair } from './requests'
import type { Connections } from './connections'
import { processes, type Operation } from './plan'
import { parseReply, type ParsedReply } from './parsed-reply'

/** One answer as its party saw it; the times are of one clock. */
export interface Answer extends ParsedReply {
  readonly phase: 'before' | 'race' | 'after'
  readonly operation: Operation
  readonly server: number
  readonly presented: string
  readonly began: number
  readonly ended: number
}

/** The clients of one round, and all answers that they got. */
export class RaceClients {
  readonly answers: Answer[] = []

  constructor(
    private readonly origins: readonly string[],
    private readonly connections: Connections,
  ) {}

  async ask(phase: Answer['phase'], operation: Operation, server: number, ask: RaceRequest): Promise<Answer> {
    const began = performance.now()
    const parsed = await this.connections
      .ask(this.origins[server % processes] ?? '', ask)
      .then(parseReply, (error: unknown) => ({
        word: `no answer: ${String(error)}`,
      }))
    const { presented } = ask
    const answer = { phase, operation, server, presented, began, ended: performance.now(), ...parsed }
    this.answers.push(answer)
    return answer
  }

  /** Every pair that came so far, once, the newest last. */
  pairs(): readonly Pair[] {
    const came = this.answers.flatMap(({ pair }) => pair ?? [])
    return [...new Map(came.map((pair) => [pair.accessToken, pair])).values()]
  }
}
