import { isBuiltin } from 'node:module'
import type { Store } from '../lib/index'
import { storeFrom } from '../lib/paths/stores'
import { LimitStore } from './limit-store'
import type { LimitStores } from './limits'
import { type Sessions, keptSecret, SessionStore } from './session-store'

/** Where the apps keep what they must remember. All of it is in one store, and outlives a restart with it. */
export interface Storage {
  readonly authorizations: Store
  readonly deviceSecret: string
  readonly limits: LimitStores
  readonly sessions: (app: string) => Sessions
  close(): Promise<void>
}

/** A store may be away at the start and come later, and go away and come back. */
export async function openStorage(url: string): Promise<Storage> {
  const store = storeFrom({ STORE_URL: url })
  const secret = await keptSecret(store, 'sessions')
  const failure = store.connectionFailure?.()
  if (failure !== undefined)
    console.error(
      `${store.place} does not answer (${failure}): start it, and the demo goes on by itself. Without STORE_URL it needs no database.`,
    )
  return {
    authorizations: store,
    deviceSecret: await keptSecret(store, 'devices'),
    limits: (name) => new LimitStore(store, `limit:${name}:`),
    sessions: (app) => ({ app, secret, store: new SessionStore(store, app) }),
    close: async () => void (await store.close?.()),
  }
}

/** A file, where Node has SQLite. */
export const usualStore = (): string => (isBuiltin('node:sqlite') ? 'file:./demo.db' : '')

export function described(url: string): string {
  if (url === '') return 'memory; elsewhere: STORE_URL=redis://localhost:6379 npm run demo, or file:./demo.db'
  return `${withoutPassword(url)}, over restarts, with everybody who is signed in`
}

/** The URL as it may be shown. */
function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//')
}
