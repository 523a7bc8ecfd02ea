import { memoryStore } from '../../../lib/index'
import { application } from './application'
import { Clock } from './clock'
import { ObservedStore } from './observed-store'
import type { SetStage } from './stores-of-run'

/**
 * The canonical host application in a time of its own, on a memory store whose time stands still: what has expired is
 * for the server to see. Jest projects of one store have `stage-of-run.ts` in its place.
 */
export const setStage: SetStage = (options, hosting) => {
  const clock = new Clock()
  const store = new ObservedStore(memoryStore())
  return { ...application({ store, clock: clock.read, ...options }, hosting), clock, store }
}
