import type { FaultyNetwork } from '../../../support/faulty-network'
import type { Loss } from '../history'
import type { CampaignStage } from './campaign-stage'
import type { FaultName } from './plan'
import type { Place, TwoProcesses } from './two-processes'

/** Where a fault happens. */
export interface FaultContext<S extends CampaignStage> {
  readonly stage: S
  readonly processes: TwoProcesses
  /** The process that it concerns. */
  readonly place: Place
  /** What lies between this process and Redis. */
  readonly way: readonly FaultyNetwork[]
  readonly random: () => number
  /** Milliseconds for which it lasts. */
  readonly lasts: number
  /** The prefix of all keys. */
  readonly prefix: string
  /** What it did to the data, as it becomes known. */
  readonly losses: Loss[]
}

/** Ends a fault. */
export type End = () => Promise<void>

export interface CampaignFault<S extends CampaignStage> {
  /** What no other fault may touch meanwhile; undefined where faults do not disturb each other. */
  readonly touches?: 'Redis' | 'process'
  readonly begin: (context: FaultContext<S>) => Promise<End>
}

export type FaultTable<S extends CampaignStage> = Partial<Record<FaultName, CampaignFault<S>>>

/** A whole number from `least` to `most`. */
export const between = (random: () => number, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1))

/** One of them, at random. */
export function anyOf<T>(random: () => number, choices: readonly T[]): T {
  const chosen = choices[Math.floor(random() * choices.length)]
  if (chosen === undefined) throw new Error('There is nothing to choose from.')
  return chosen
}
