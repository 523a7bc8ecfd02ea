import { setTimeout } from 'node:timers/promises'
import type { Row } from '../../support/reliability/report'
import { ClusterStage, clusterFaults } from './cluster-stage'
import { SentinelStage, sentinelFaults } from './sentinel-stage'
import { singleFaults } from './single-faults'
import { SingleStage } from './single-stage'
import type { Fault, Stage } from './stage'
import { Trial, type Servers, type Verdict } from './trial'

/** How a fault is tried. */
export interface Effort {
  readonly long: boolean
  readonly seed: number
  /** Seconds after which a server that does not work again is given up. Default 30. */
  readonly patience?: number
}

/** A kind of Redis, how it begins, and what is done to it. */
export interface CampaignRunner<S extends Stage> {
  readonly title: string
  readonly start: () => Promise<S>
  readonly faults: readonly Fault<S>[]
}

export const single: CampaignRunner<SingleStage> = {
  title: 'One Redis',
  start: () => SingleStage.start(),
  faults: singleFaults,
}
export const cluster: CampaignRunner<ClusterStage> = {
  title: 'A cluster',
  start: () => ClusterStage.start(),
  faults: clusterFaults,
}
export const sentinel: CampaignRunner<SentinelStage> = {
  title: 'Sentinel',
  start: () => SentinelStage.start(),
  faults: sentinelFaults,
}

/** Seconds within which everything must work again, once Redis does and while the machine does. */
export const recoveryBound = 10

/** One fault under load, with calm before and after it. */
export async function tryFault<S extends Stage>(
  fault: Fault<S>,
  stage: S,
  servers: Servers,
  { long, seed, patience }: Effort,
): Promise<Verdict> {
  const trial = Trial.begin(servers, stage, { seed, visitors: long ? 16 : 8, pause: 20, patience })
  const [shortly, longer] = fault.seconds
  try {
    await setTimeout(long ? 2000 : 400)
    const recovery = await trial.suffer(fault, stage, long ? longer : shortly)
    await setTimeout(long ? 2000 : 300)
    return { ...(await trial.end(long ? 500 : 80)), ...recovery }
  } finally {
    await trial.leave()
  }
}

/** What a fault must not have shown, in words; empty when all is well. */
export function complaintsOf(fault: Fault<never>, verdict: Verdict, servers: Servers): readonly string[] {
  const { violations, troubled, undisturbed, requests, delay } = verdict
  const shown = violations.slice(0, 5).map(({ rule, attempt }) => `${rule}: ${JSON.stringify(attempt)}`)
  return [
    ...shown,
    ...(servers.every((server) => server.isAlive()) ? [] : ['a server has died']),
    ...(delay > recoveryBound ? [`it worked again only after ${delay.toFixed(1)} s`] : []),
    ...(fault.trouble === 'must' && troubled === 0 ? ['no request met the fault'] : []),
    // What lasts too short for a standstill to be seen may still miss a deadline.
    ...(fault.trouble === 'never' && undisturbed > requests / 100
      ? [`${undisturbed} answers shown of trouble`]
      : []),
  ]
}

const promises = {
  kept: 'all invariants, and no acknowledged write is lost',
  lost: 'all invariants, and the server accepts nothing from before',
  forked: 'all invariants, once the guard process has left the old master',
  lagging: 'the data of the survivor is consistent: no two responses to one credential work at once',
}

/** A row of the page. */
export function rowOf(fault: Fault<never>, verdict: Verdict, complaints: readonly string[]): Row {
  const { requests, troubled, recovery, slowest } = verdict
  const seen = `${troubled} times temporarily_unavailable, slowest answer ${slowest.toFixed(1)} s, works again after ${recovery.toFixed(1)} s`
  return {
    case: fault.title,
    rounds: requests,
    invariant: promises[fault.data],
    result: complaints.length === 0 ? seen : `BROKEN: ${complaints.length} times, ${seen}`,
  }
}
