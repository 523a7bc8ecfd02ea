import { randomBytes } from 'node:crypto'
import { type SessionData, Store as StoreOfSessions } from 'express-session'
import type { Store } from '../lib/index'

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
    this.keep(this.keyOf(id), JSON.stringify(session)).then(() => done(), done)
  }

  override destroy(id: string, done: Done = () => {}): void {
    this.store.remove(this.keyOf(id)).then(() => done(), done)
  }

  // Of requests at the same time, the last one to write wins, as in other stores of sessions.
  private async keep(key: string, value: string): Promise<void> {
    const expected = (await this.store.read(key))?.version
    const isKept = await this.store.write(key, value, { version: newVersion(), expected, seconds: twoWeeks })
    if (!isKept) await this.keep(key, value)
  }

  private keyOf(id: string): string {
    return `demo-session:${this.app}:${id}`
  }
}

/** A secret that every process of the store has, and that outlives a restart. While the store is away: a new one. */
export async function keptSecret(store: Store, name: string): Promise<string> {
  const fresh = randomBytes(32).toString('base64url')
  const key = `demo-secret:${name}`
  try {
    await store.write(key, JSON.stringify(fresh), { version: newVersion() })
    const found = await store.read(key)
    return found === undefined ? fresh : String(JSON.parse(found.value))
  } catch {
    return fresh
  }
}

const newVersion = (): string => randomBytes(16).toString('base64url')
