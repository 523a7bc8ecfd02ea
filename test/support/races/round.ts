import { setTimeout } from 'node:timers/promises'
import { asks, introspectionAsk, redemptionAsk, refreshAsk, useAsk, nothing, type Holdings } from './asks'
import type { Connections } from './connections'
import { Parties, type Answer } from './parties'
import type { Move, RoundPlan } from './plan'

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
    await inquire(parties, plan.first, holdings)
  }
  return { plan, answers: parties.answers }
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
async function inquire(parties: Parties, first: number, holdings: Holdings): Promise<void> {
  const redeemed = parties.answers.filter(({ operation }) => operation === 'redeem')
  const codes = parties.answers
    .flatMap(({ phase, code }) => (phase === 'race' ? (code ?? []) : []))
    .filter((code) => !redeemed.some(({ presented }) => presented === code))
  for (const code of new Set(codes)) await parties.ask('after', 'redeem', first, redemptionAsk(code))
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
  // What is gone must not have begun anew.
  if (!alive) await parties.ask('after', 'approve late', first, asks['approve late'](holdings, 0))
}
