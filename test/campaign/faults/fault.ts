import type { Chance } from '../../support/chance'
import type { FaultyNetwork } from '../../support/faulty-network'
import type { Loss } from '../history'
import type { FaultName } from '../plan'
import type { Processes } from '../processes'

/** Where a fault happens. */
export interface Scene<S> {
  readonly stage: S
  readonly processes: Processes
  /** The process that it concerns. */
  readonly place: number
  /** What lies between this process and Redis. */
  readonly way: readonly FaultyNetwork[]
  readonly chance: Chance
  /** Milliseconds for which it lasts. */
  readonly lasts: number
  /** The prefix of all keys. */
  readonly prefix: string
  /** What it did to the data, as it becomes known. */
  readonly losses: Loss[]
}

/** Ends a fault. */
export type End = () => Promise<void>

export interface Fault<S> {
  /** What no other fault may touch meanwhile; undefined where faults do not disturb each other. */
  readonly touches?: 'Redis' | 'process'
  readonly begin: (scene: Scene<S>) => Promise<End>
}

export type FaultTable<S> = Partial<Record<FaultName, Fault<S>>>
