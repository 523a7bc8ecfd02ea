import type { RedisPlan } from '../../support/redis-plan'

/** A Redis of some kind, and how server processes reach it. */
export interface Stage {
  readonly plan: RedisPlan
  /** Resolves when each server that lives has answered; it asks around whatever network there is. */
  ping(): Promise<unknown>
  stop(): Promise<void>
}

/** What a fault does to the data. */
export type Fate = 'kept' | 'lost' | 'lagging' | 'forked'

/** One thing that breaks, and how it ends. */
export interface Fault<S extends Stage> {
  readonly title: string
  /** `lost`: all of it is gone. `lagging`: what was acknowledged shortly before may be undone. `forked`: who reads may not hear of changes. */
  readonly data: Fate
  /** Whether clients meet trouble: they must, may, or must not. */
  readonly trouble: 'must' | 'may' | 'never'
  /** How long it lasts, in seconds; in the short form, too. */
  readonly seconds: readonly [short: number, long: number]
  begin(stage: S): Promise<void>
  end(stage: S): Promise<void>
}
