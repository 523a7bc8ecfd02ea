import type { EventEmitter } from 'node:events'
import { inspect } from 'node:util'
import { bareError } from '../protocol/bare-error'
import { warnOnce } from '../warning'

/**
 * Tells every listener, each by itself: one that throws, or whose promise rejects, harms neither the answer nor the other
 * listeners, and is told of by a warning.
 */
export function tellListeners(events: EventEmitter, name: string, event: object): void {
  Object.freeze(event)
  // `emit` would end at the first one that throws. The raw ones, so that those of `once` take themselves away.
  for (const listener of events.rawListeners(name))
    try {
      const outcome: unknown = Reflect.apply(listener, events, [event])
      if (outcome instanceof Promise) outcome.catch((thrown: unknown) => warn(name, thrown))
    } catch (thrown) {
      warn(name, thrown)
    }
}

function warn(name: string, thrown: unknown): void {
  warnOnce(
    'EAS_EVENT_LISTENER',
    `A listener of the event '${name}' failed: ${inspect(bareError(thrown))}. The answer does not wait for listeners.`,
    `EAS_EVENT_LISTENER ${name}`,
  )
}
