import type { AuditEvent, AuditEvents, AuthorizationServer } from 'express-authorization-server'

/** Of a logger, such as pino, what is needed here. */
type Log = Record<'info' | 'warn' | 'error', (members: object, message: string) => void>

// A record, so that the compiler knows of an event that is missing.
const levels: Readonly<Record<keyof AuditEvents, keyof Log>> = {
  approved: 'info',
  issued: 'info',
  refreshed: 'info',
  revoked: 'info',
  refused: 'warn',
  replayed: 'error',
  reused: 'error',
  throttled: 'warn',
  failure: 'error',
  oldSecretUsed: 'warn',
}

const isEvent = (name: string): name is keyof AuditEvents => Object.hasOwn(levels, name)

/** Writes every event into a log, one line each: `logEvents(oauth, pino())`. */
export function logEvents({ events }: Pick<AuthorizationServer, 'events'>, log: Log): void {
  for (const name of Object.keys(levels).filter(isEvent))
    events.on(name, (event: AuditEvent & { readonly cause?: unknown }) => {
      // pino writes an error as text under the name `err` alone.
      const { cause: err, ...members } = event
      log[levels[name]]({ ...members, err }, name)
    })
}
