import { bearerGuard, type BearerGuard } from './express/bearer-guard'
import { FailureReports, type AuthorizationServerEvents } from './express/failure'
import type { AuthorizationStore } from './stores/authorization-store'
import { withDeadline } from './stores/deadline'
import { bearer } from './token-types/bearer'

/** Options of {@link createBearerGuard}. */
export interface RemoteGuardOptions {
  /** The store of the authorization server, such as `redisStore({ url })` with the same prefix. */
  readonly store: AuthorizationStore
  /** How long one call of the store may take, in seconds. Default 0.5. */
  readonly storeDeadline?: number
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** A bearer guard that stands by itself, and the events of its own. */
export type RemoteGuard = BearerGuard & { readonly events: AuthorizationServerEvents }

/** Makes bearer guards for a resource server in another process than the authorization server. */
export function createBearerGuard({
  store,
  storeDeadline = 0.5,
  clock = Date.now,
}: RemoteGuardOptions): RemoteGuard {
  const reports = new FailureReports()
  const now = () => Math.floor(clock() / 1000)
  const edge = {
    store: withDeadline(store, storeDeadline),
    tokenType: bearer,
    now,
    knownScope: undefined,
    reports,
  }
  const guard: BearerGuard = (scope, options) => bearerGuard(edge, scope, options)
  return Object.assign(guard, { events: reports.events })
}
