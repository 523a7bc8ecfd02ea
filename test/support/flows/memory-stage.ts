import { memoryStore, type AuthorizationServerOptions } from '../../../lib/index'
import { application, type Hosting } from './application'
import { Clock } from './clock'
import type { Stage } from './every-store'
import { ObservedStore } from './observed-store'

/** The canonical host application in a time of its own, on the memory store: for rules that no store can bend. */
export function memoryStage(options: Partial<AuthorizationServerOptions> = {}, hosting?: Hosting): Stage {
  const clock = new Clock()
  const store = new ObservedStore(memoryStore({ clock: clock.read }))
  return { ...application({ store, clock: clock.read, ...options }, hosting), clock, store }
}
