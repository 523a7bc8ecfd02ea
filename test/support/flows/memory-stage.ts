import { memoryStore, type AuthorizationServerOptions } from '../../../lib/index'
import { application, type Hosting } from './application'
import { Clock } from './clock'
import type { Stage } from './every-store'
import { ObservedStore } from './observed-store'

/**
 * The canonical host application in a time of its own, on a memory store whose time stands still: what has expired is
 * for the server to see.
 */
export function memoryStage(options: Partial<AuthorizationServerOptions> = {}, hosting?: Hosting): Stage {
  const clock = new Clock()
  const store = new ObservedStore(memoryStore())
  return { ...application({ store, clock: clock.read, ...options }, hosting), clock, store }
}
