import type { Authorization } from './authorization'
import type { TransitionResult } from './step'

/** A move of one authorization that is settled: what was found of it, and what was written. */
export interface CommittedTransition {
  /** Undefined when there was none, as before one begins. */
  readonly found: Authorization | undefined
  readonly write: TransitionResult<unknown>['write']
}

/**
 * Is told of the move that a request came to, also of one that ends in a refusal, for events alone: what it hears of a
 * record must never reach an answer. It must not throw.
 */
export type OnCommitted = (move: CommittedTransition) => void
