import { setTimeout } from 'node:timers/promises'
import {
  requests,
  introspectionRequest,
  redemptionRequest,
  refreshRequest,
  useRequest,
  nothing,
  type Holdings,
} from './requests'
import type { Connections } from './connections'
import { RaceClients, type Answer } from './race-clients'
import type { Move, RoundPlan } from './plan'

/** What is known of one race from outside: the plan, and every answer. */
export interface Round {
  readonly plan: RoundPlan
  readonly answers: readonly Answer[]
}

/** Prepares an authorization, lets the clients of the plan race for it, and asks every process what became of it. */
export async function runRound(
  plan: RoundPlan,
  origins: readonly string[],
  connections: Connections,
): Promise<Round> {
  const clients = new RaceClients(origins, connections)
  const holdings = await prepare(plan, clients)
  if (holdings !== undefined) {
    await Promise.all(plan.moves.map((move) => take(move, holdings, clients)))
    await inquire(clients, plan.first, holdings)
  }
  return { plan, answers: clients.answers }
}

/** Brings an authorization to where its race begins; undefined if that already fails. */
async function prepare({ stage, first }: RoundPlan, clients: RaceClients): Promise<Holdings | undefined> {
  const { form } = await clients.ask('before', 'ask', first, requests.ask(nothing, 0))
  if (form === undefined) return undefined
  const pending = { ...nothing, form }
  if (stage === 'pending') return pending
  const { code } = await clients.ask('before', 'approve', first + 1, requests.approve(pending, 0))
  if (code === undefined) return undefined
  if (stage === 'approved') return { ...pending, code }
  await clients.ask('before', 'redeem', first + 2, redemptionRequest(code))
  for (const server of [first, first + 1]) {
    const pair = clients.pairs().at(-1)
    if (pair !== undefined) await clients.ask('before', 'refresh', server, refreshRequest(pair))
  }
  const pairs = clients.pairs()
  return pairs.length === 3 ? { ...pending, code, pairs } : undefined
}

async function take(
  { operation, server, next, delay, which }: Move,
  holdings: Holdings,
  clients: RaceClients,
) {
  if (delay > 0) await setTimeout(delay)
  const { pair } = await clients.ask('race', operation, server, requests[operation](holdings, which))
  const newest = pair ?? holdings.pairs.at(-1)
  if (newest !== undefined) await clients.ask('race', 'use', next, useRequest(newest))
}

/** When all is answered: every token at every process, and what can still be had for it. */
async function inquire(clients: RaceClients, first: number, holdings: Holdings): Promise<void> {
  const redeemed = clients.answers.filter(({ operation }) => operation === 'redeem')
  const codes = clients.answers
    .flatMap(({ phase, code }) => (phase === 'race' ? (code ?? []) : []))
    .filter((code) => !redeemed.some(({ presented }) => presented === code))
  for (const code of new Set(codes)) await clients.ask('after', 'redeem', first, redemptionRequest(code))
  const pairs = clients.pairs()
  const newest = pairs.at(-1)
  if (newest === undefined) return
  await Promise.all([
    ...pairs.flatMap((pair) =>
      [0, 1, 2].map((server) => clients.ask('after', 'use', server, useRequest(pair))),
    ),
    clients.ask('after', 'introspect', first + 1, introspectionRequest(newest)),
  ])
  // A refresh token of before would revoke what is alive: all of them only where nothing should be.
  const alive = clients.answers.some(({ phase, word }) => phase === 'after' && word === 'access')
  for (const pair of alive ? [newest] : pairs)
    await clients.ask('after', 'refresh', first + 2, refreshRequest(pair))
  // What is gone must not have begun anew.
  if (!alive) await clients.ask('after', 'approve late', first, requests['approve late'](holdings, 0))
}
