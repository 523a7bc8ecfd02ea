import { AuditLog } from '../audit/audit-log'
import type { AuthorizationServerEvents } from '../audit/events'
import { countersOfIssuer, issuerDigest, storeOfIssuer } from '../authorization/issuer'
import { findAccessToken } from '../authorization/lookup'
import { resolveExtensions, resolveTokenTypes } from '../config/plug-ins'
import { resolveCounters, resolveIssuer } from '../config/resolve-options'
import { bearerGuard, type BearerGuard, type GuardHttp } from '../http/bearer-guard'
import { RequestContexts } from '../http/request-context'
import { RequestsInFlight } from '../http/requests-in-flight'
import { OptionsReader } from '../protocol/configuration'
import type { Extension } from '../protocol/extension'
import type { TokenType } from '../protocol/token-type'
import { isPageUri, pageCure } from '../protocol/uri'
import { usualSingleUses, withSingleUseLimit } from '../rate-limit/issue-limits'
import { type LimitOption, readLimit } from '../rate-limit/limit'
import {
  type AuthorizationStore,
  isAuthorizationStore,
  noStore,
  storeCure,
} from '../stores/authorization-store'
import type { Counters } from '../stores/counters'
import { countersWithDeadline, deadlineCure, isDeadline, withDeadline } from '../stores/deadline'
import { type Lifecycle, lifecycleOf } from './lifecycle'

/** Options of {@link createBearerGuard}. */
export interface RemoteGuardOptions extends StandaloneGuardOptions {
  /**
   * The option `issuer` of the authorization server, letter by letter. The guard accepts the tokens of that issuer alone,
   * also where servers of other issuers keep theirs in the same store.
   */
  readonly issuer: string
  /** The store of the authorization server, such as `redisStore({ url })` with the same prefix. */
  readonly store: AuthorizationStore
  /** The option `tokenTypes` of the authorization server. */
  readonly tokenTypes?: readonly TokenType[]
  /** The option `extensions` of the authorization server: those with `atResourceRequest` or `access` act in guards. */
  readonly extensions?: readonly Extension[]
  /**
   * Where token types count what may be used once, together with all other guards. Default: the `counters` of the store,
   * as `redisStore()` has them; for a store without any, the memory of this process.
   */
  readonly counters?: Counters
  /**
   * What one client may use up once, in this process: nonces of signed requests. Beyond it the answer is 429 with
   * `Retry-After`. Default: 60 000 `attempts` in 60 `seconds`; false switches it off.
   */
  readonly singleUseLimit?: LimitOption
  /** How long one call of the store may take, in seconds. Default 0.5. */
  readonly storeDeadline?: number
}

/** A bearer guard that stands by itself, with events and a lifecycle of its own. */
export type RemoteGuard = BearerGuard & Lifecycle & { readonly events: AuthorizationServerEvents }

/**
 * Makes bearer guards for a resource server in another process than the authorization server.
 *
 * @throws ConfigurationError when the options are wrong, with each mistake and its cure.
 */
export function createBearerGuard(options: RemoteGuardOptions): RemoteGuard {
  const reading = new OptionsReader(options, '')
  const { issuer } = resolveIssuer(reading, 'the authorization server')
  const store = reading.required('store', noStore, isAuthorizationStore, storeCure)
  const storeDeadline = reading.optional('storeDeadline', 0.5, isDeadline, deadlineCure)
  const alone = readStandaloneGuard(reading)
  const tokenTypes = resolveTokenTypes(reading)
  const extensions = resolveExtensions(reading)
  const counters = resolveCounters(reading, store, alone.clock, tokenTypes.length > 1)
  const singleUseLimit = readLimit(reading, 'singleUseLimit', usualSingleUses)
  reading.refuseUnknown()
  reading.settle('createBearerGuard() cannot work with these options:')

  const ownDigest = issuerDigest(issuer)
  const http = {
    ...guardByStore(
      storeOfIssuer(withDeadline(store, storeDeadline), ownDigest),
      countersOfIssuer(
        withSingleUseLimit(countersWithDeadline(counters, storeDeadline), singleUseLimit, alone.clock),
        ownDigest,
      ),
    ),
    tokenTypes,
    extensions,
    ...standaloneGuard(alone),
  }
  const { closeDeadline } = alone
  const lifecycle = lifecycleOf({ issuer, store, storeDeadline, closeDeadline, requests: http.requests })
  return Object.assign(bearerGuard(http), { events: http.audit.events, ...lifecycle })
}

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
}: ReturnType<typeof readStandaloneGuard>): Omit<
  GuardHttp,
  'find' | 'useOnce' | 'tokenTypes' | 'extensions'
> {
  const contexts = new RequestContexts()
  return {
    now: () => Math.floor(clock() / 1000),
    knownScope: undefined,
    errorUri,
    contexts,
    audit: new AuditLog(clock, (request) => contexts.of(request).notes),
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
    useOnce: (key, seconds, clientId) => counters.useOnce(key, seconds, clientId),
  }
}

const isClock = (value: unknown): value is () => number => typeof value === 'function'
