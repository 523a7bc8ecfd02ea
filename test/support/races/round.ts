import { setTimeout } from 'node:timers/promises'
import {
  asks,
  introspectionAsk,
  redemptionAsk,
  refreshAsk,
  useAsk,
  nothing,
  type Ask,
  type Holdings,
  type Pair,
} from './asks'
import type { Connections } from './connections'
import { processes, type Move, type Operation, type RoundPlan } from './plan'
import { readingOf, type Reading } from './readings'

/** One answer as its party saw it; the times are of one clock. */
export interface Answer extends Reading {
  readonly phase: 'before' | 'race' | 'after'
  readonly operation: Operation
  readonly server: number
  readonly presented: string
  readonly began: number
  readonly ended: number
}

/** What is known of one race from outside: the plan, and every answer. */
export interface Round {
  readonly plan: RoundPlan
  readonly answers: readonly Answer[]
}

/** Prepares an authorization, lets the parties of the plan race for it, and asks every process what became of it. */
export async function runRound(
  plan: RoundPlan,
  origins: readonly string[],
  connections: Connections,
): Promise<Round> {
  const parties = new Parties(origins, connections)
  const holdings = await prepare(plan, parties)
  if (holdings !== undefined) {
    await Promise.all(plan.moves.map((move) => take(move, holdings, parties)))
    await inquire(parties, plan.first)
  }
  return { plan, answers: parties.answers }
}

/** Whoever asks in one round, and all that they were told. */
class Parties {
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

/** Brings an authorization to where its race begins; undefined if that already fails. */
async function prepare({ stage, first }: RoundPlan, parties: Parties): Promise<Holdings | undefined> {
  const { form } = await parties.ask('before', 'ask', first, asks.ask(nothing, 0))
  if (form === undefined) return undefined
  const pending = { ...nothing, form }
  if (stage === 'pending') return pending
  const { code } = await parties.ask('before', 'approve', first + 1, asks.approve(pending, 0))
  if (code === undefined) return undefined
  if (stage === 'approved') return { ...pending, code }
  await parties.ask('before', 'redeem', first + 2, redemptionAsk(code))
  for (const server of [first, first + 1]) {
    const pair = parties.pairs().at(-1)
    if (pair !== undefined) await parties.ask('before', 'refresh', server, refreshAsk(pair))
  }
  const pairs = parties.pairs()
  return pairs.length === 3 ? { ...pending, code, pairs } : undefined
}

async function take({ operation, server, next, delay, which }: Move, holdings: Holdings, parties: Parties) {
  if (delay > 0) await setTimeout(delay)
  const { pair } = await parties.ask('race', operation, server, asks[operation](holdings, which))
  const newest = pair ?? holdings.pairs.at(-1)
  if (newest !== undefined) await parties.ask('race', 'use', next, useAsk(newest))
}

/** When all is answered: every token at every process, and what can still be had for it. */
async function inquire(parties: Parties, first: number): Promise<void> {
  const codes = parties.answers.flatMap(({ phase, code }) => (phase === 'race' ? (code ?? []) : []))
  for (const code of codes) await parties.ask('after', 'redeem', first, redemptionAsk(code))
  const pairs = parties.pairs()
  const newest = pairs.at(-1)
  if (newest === undefined) return
  await Promise.all([
    ...pairs.flatMap((pair) => [0, 1, 2].map((server) => parties.ask('after', 'use', server, useAsk(pair)))),
    parties.ask('after', 'introspect', first + 1, introspectionAsk(newest)),
  ])
  // A refresh token of before would revoke what is alive: all of them only where nothing should be.
  const alive = parties.answers.some(({ phase, word }) => phase === 'after' && word === 'access')
  for (const pair of alive ? [newest] : pairs)
    await parties.ask('after', 'refresh', first + 2, refreshAsk(pair))
}
