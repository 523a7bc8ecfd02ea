import { randomBytes } from 'node:crypto'
import { type SessionData, Store as StoreOfSessions } from 'express-session'
import type { Store } from '../lib/index'
import { changeRecord } from '../lib/store/change'

/** Of one app. */
export interface Sessions {
  readonly app: string
  /** Signs the cookies. */
  readonly secret: string
  readonly store: SessionStore
}

type Done = (error?: unknown, session?: SessionData) => void

const twoWeeks = 14 * 24 * 3600

/** Keeps the sessions of one app in the store of the authorizations, with which they outlive a restart. */
export class SessionStore extends StoreOfSessions {
  constructor(
    private readonly store: Store,
    private readonly app: string,
  ) {
    super()
  }

  /** express-session asks no store that is disconnected: the request goes on without a session. */
  watch(): void {
    this.emit(this.store.connectionFailure?.() === undefined ? 'connect' : 'disconnect')
  }

  override get(id: string, done: Done): void {
    this.store.read(this.keyOf(id)).then((found) => done(null, found && JSON.parse(found.value)), done)
  }

  override set(id: string, session: SessionData, done: Done = () => {}): void {
    const write = { value: JSON.stringify(session), seconds: twoWeeks }
    // Of requests at the same time, the last one to write wins, as in other stores of sessions.
    changeRecord(this.store, this.keyOf(id), () => ({ write, outcome: undefined })).then(() => done(), done)
  }

  override destroy(id: string, done: Done = () => {}): void {
    this.store.remove(this.keyOf(id)).then(() => done(), done)
  }

  private keyOf(id: string): string {
    return `demo-session:${this.app}:${id}`
  }
}

/** A secret that every process of the store has, and that outlives a restart. While the store is away: a new one. */
export function keptSecret(store: Store, name: string): Promise<string> {
  const fresh = randomBytes(32).toString('base64url')
  return changeRecord(store, `demo-secret:${name}`, (value) =>
    value === undefined
      ? { write: { value: JSON.stringify(fresh) }, outcome: fresh }
      : { outcome: String(JSON.parse(value)) },
  ).catch(() => fresh)
}
