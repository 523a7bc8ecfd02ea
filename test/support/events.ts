import type {
  AuditEvent,
  AuditEvents,
  AuthorizationServerEvents,
  FailureEvent,
  RefusalEvent,
  ThrottleEvent,
} from '../../lib/audit/events'

/** A request that did not get what it asked for. */
export type Failure = RefusalEvent & Partial<ThrottleEvent & FailureEvent>

// A record, so that the compiler misses none.
const everyName: Readonly<Record<keyof AuditEvents, 'good' | 'bad'>> = {
  approved: 'good',
  issued: 'good',
  refreshed: 'good',
  revoked: 'good',
  refused: 'bad',
  replayed: 'bad',
  reused: 'bad',
  throttled: 'bad',
  failure: 'bad',
  oldSecretUsed: 'good',
}

export const isEventName = (name: string): name is keyof AuditEvents => Object.hasOwn(everyName, name)
export const eventNames = Object.keys(everyName).filter(isEventName)

/** Every event of a request that did not get what it asked for, in order. */
export function failuresOf(events: AuthorizationServerEvents): readonly Failure[] {
  const failures: Failure[] = []
  // A mere refusal has no cause: here that can be asserted of all alike.
  const keep = (failure: Failure) => void failures.push({ cause: undefined, ...failure })
  for (const name of ['refused', 'replayed', 'reused', 'throttled', 'failure'] as const) events.on(name, keep)
  return failures
}

/** An event under its name. */
export type RecordedEvent = AuditEvent & { readonly event: keyof AuditEvents }

/** Every event, in order. */
export function recordEvents(events: AuthorizationServerEvents): readonly RecordedEvent[] {
  const recorded: RecordedEvent[] = []
  for (const event of eventNames)
    events.on(event, (members: AuditEvent) => void recorded.push({ event, ...members }))
  return recorded
}
