import { findAccessToken } from './authorization/find-access'
import type { GuardHttp } from './express/bearer-guard'
import { AuditLog } from './express/reports'
import { RequestsInFlight } from './express/requests-in-flight'
import { singleUse } from './express/single-use'
import type { OptionsReader } from './protocol/configuration'
import { isPageUri, pageCure } from './protocol/error-page-uri'
import type { AuthorizationStore } from './stores/authorization-store'
import type { Counters } from './stores/counters'
import { deadlineCure, isDeadline } from './stores/deadline'

/** Options of every guard that stands by itself. */
export interface StandaloneGuardOptions {
  /** How long `close()` waits for requests in flight, in seconds. Default 10. */
  readonly closeDeadline?: number
  /** The page that explains error codes: its URL is sent as `error_uri`, with the code as its fragment. */
  readonly errorUri?: string
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

/** Reads them; what it returns after a mistake is a placeholder. */
export function readStandaloneGuard(reading: OptionsReader) {
  return {
    closeDeadline: reading.optional('closeDeadline', 10, isDeadline, deadlineCure),
    clock: reading.optional('clock', Date.now, isClock, 'must be a function.'),
    errorUri: reading.optional<string | undefined>('errorUri', undefined, isPageUri, pageCure),
  }
}

/** What a guard works with that has no server around it, whatever its tokens are. */
export function standaloneGuard({
  clock,
  errorUri,
}: ReturnType<typeof readStandaloneGuard>): Omit<GuardHttp, 'find' | 'useOnce' | 'tokenTypes'> {
  return {
    now: () => Math.floor(clock() / 1000),
    knownScope: undefined,
    errorUri,
    reports: new AuditLog(clock),
    requests: new RequestsInFlight(),
  }
}

/** What a guard works with that looks tokens up in a store. */
export function guardByStore(
  store: AuthorizationStore,
  counters: Counters,
): Pick<GuardHttp, 'find' | 'useOnce'> {
  return {
    find: (accessToken, now) => findAccessToken(store, accessToken, now),
    useOnce: (request) => singleUse(request, counters),
  }
}

const isClock = (value: unknown): value is () => number => typeof value === 'function'
