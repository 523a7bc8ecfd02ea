import type { AuthorizationStore } from '../../../lib/stores/authorization-store'

/** A store to be put to the test, and what only whoever wrote it can do with it. */
export interface StoreUnderTest {
  readonly store: AuthorizationStore
  /** Makes the store believe that so many seconds have passed. Where nothing else will do, it waits for them. */
  advance(seconds: number): void | Promise<void>
  close(): Promise<void>
}
