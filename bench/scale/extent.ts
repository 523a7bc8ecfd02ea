/** How much is measured. All times in milliseconds. */
export interface Extent {
  /** Authorizations in Redis: few and many. */
  readonly sizes: readonly number[]
  /** The same for what was refreshed: only its memory is looked at. */
  readonly refreshedSizes: readonly number[]
  readonly warmUp: number
  readonly round: number
  readonly rounds: number
  /** Of one rate of the open loop. */
  readonly open: number
  /** Of one command at Redis. */
  readonly command: number
}

export const full: Extent = {
  sizes: [1000, 1_000_000],
  refreshedSizes: [1000, 100_000],
  warmUp: 400,
  round: 1000,
  rounds: 3,
  open: 5000,
  command: 2000,
}

export const short: Extent = {
  sizes: [1000, 100_000],
  refreshedSizes: [1000, 10_000],
  warmUp: 200,
  round: 400,
  rounds: 2,
  open: 1000,
  command: 400,
}

/** Tells whether the harness works; its figures mean nothing. */
export const tiny: Extent = {
  sizes: [1000],
  refreshedSizes: [1000],
  warmUp: 50,
  round: 100,
  rounds: 1,
  open: 200,
  command: 100,
}
