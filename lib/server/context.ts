import type { Store } from 'express-rate-limit'
import { AuditLog } from '../audit/audit-log'
import { countersOfIssuer, issuerDigest, storeOfIssuer } from '../authorization/issuer'
import { type IssueContext, unrestricted } from '../authorization/transition'
import type { ServerSettings } from '../config/options'
import { byName } from '../config/plug-ins'
import {
  type Admit,
  countInStore,
  lazyCount,
  failureLimit,
  type FailureLimit,
  type NetworkLimit,
  requestLimit,
  unlimitedFailures,
} from '../http/network-limit'
import { RequestContexts } from '../http/request-context'
import { RequestsInFlight } from '../http/requests-in-flight'
import { secureRandom } from '../protocol/credential'
import { temporarilyUnavailable } from '../protocol/oauth-error'
import { steadyClock } from '../protocol/steady-clock'
import { notingUse } from '../dynamic-registration/note-use'
import { BoundedWindows } from '../rate-limit/bounded-windows'
import { IssueLimits, withSingleUseLimit } from '../rate-limit/issue-limits'
import type { Limit } from '../rate-limit/limit'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { Counters } from '../stores/counters'
import { countersWithDeadline, withDeadline, withinDeadline } from '../stores/deadline'
import { writeBackCache, type WriteBackCache } from '../stores/recently-written'

/** The parts that all endpoints and guards of one server share. */
export interface ServerContext {
  readonly settings: ServerSettings
  readonly store: AuthorizationStore
  readonly takeCached: WriteBackCache['takeCached']
  readonly counters: Counters
  readonly issueLimits: IssueLimits
  /**
   * Makes the context of one request.
   *
   * @param restrict asks the extensions about an access token. Default: no extension restricts the token.
   */
  readonly issueContext: (restrict?: IssueContext['restrict']) => IssueContext
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  /** The limits by network. All parts of one kind share one count, even if the host makes a part several times. */
  readonly admit: NetworkLimits
  /** The contexts of the requests of this server. */
  readonly contexts: RequestContexts
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
}

export function createServerContext(settings: ServerSettings): ServerContext {
  const { clock, issuer, lifetimes, maintenance } = settings
  const ownDigest = issuerDigest(issuer)
  const tokenTypes = byName(settings.tokenTypes)
  const issueLimits = new IssueLimits(settings.issueLimits, clock)
  const contexts = new RequestContexts()
  return {
    settings,
    ...writeBackCache(storeOfIssuer(storeOf(settings), ownDigest)),
    counters: countersOfIssuer(
      withSingleUseLimit(
        countersWithDeadline(settings.counters, settings.storeDeadline),
        settings.singleUseLimit,
        clock,
      ),
      ownDigest,
    ),
    issueLimits,
    issueContext: (restrict = unrestricted) => {
      let isCounted = false
      const countIssue: IssueContext['countIssue'] = (clientId, subject) => {
        if (!isCounted) issueLimits.count(clientId, subject)
        isCounted = true
      }
      return {
        now: Math.floor(clock() / 1000),
        issuerDigest: ownDigest,
        random: secureRandom,
        lifetimes,
        tokenTypes,
        countIssue,
        restrict,
      }
    },
    requireService: maintenance === undefined ? () => {} : unlessClosed(maintenance),
    contexts,
    admit: networkLimitsOf(settings, contexts),
    audit: new AuditLog(clock, (request) => contexts.of(request).notes),
    requests: new RequestsInFlight(),
  }
}

function storeOf({ store, storeDeadline, dynamicRegistration }: ServerSettings): AuthorizationStore {
  const hurried = withDeadline(store, storeDeadline)
  return dynamicRegistration === undefined ? hurried : notingUse(hurried, dynamicRegistration)
}

function unlessClosed(maintenance: NonNullable<ServerSettings['maintenance']>): () => Promise<void> {
  return async () => {
    const isClosed: unknown = await maintenance()
    if (isClosed === true)
      throw temporarilyUnavailable('maintenance', 'The server is closed for maintenance.')
  }
}

/** The limits by network, for each kind of endpoint. */
export interface NetworkLimits {
  readonly authorization: Admit
  /** Counts every registration of a client, because a stranger may register as many as the server lets him. */
  readonly registration: Admit
  /**
   * Counts only failures: many honest clients may share an address, and the option `issueLimits` bounds their
   * successes.
   */
  readonly clients: FailureLimit
}

const all = async () => {}

export function networkLimitsOf(
  { rateLimit, clock: wallClock, storeDeadline, dynamicRegistration }: ServerSettings,
  contexts: RequestContexts,
): NetworkLimits {
  const clock = steadyClock(wallClock)
  const limitOf = (name: keyof NetworkLimits): NetworkLimit | undefined => {
    const limit = rateLimit[name]
    if (limit === undefined) return undefined
    const { stores } = rateLimit
    if (stores === undefined) {
      const windows = new BoundedWindows(clock, limit.seconds * 1000)
      return { clock, count: lazyCount(() => countInStore(limit, windows)) }
    }
    const shared = storeOfHost(stores(name), storeDeadline, limit, { clock, wallClock })
    return { clock, count: countInStore(limit, shared) }
  }
  const authorization = limitOf('authorization')
  const clients = limitOf('clients')
  const registration = dynamicRegistration && limitOf('registration')
  return {
    authorization: authorization ? requestLimit(authorization, contexts) : all,
    registration: registration ? requestLimit(registration, contexts) : all,
    clients: clients ? failureLimit(clients) : unlimitedFailures,
  }
}

interface Clocks {
  /** Milliseconds of a clock that does not step. */
  readonly clock: () => number
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
}

/**
 * Sets a deadline on a store of the host, because express-rate-limit waits for its store without one. Converts
 * `resetTime` from the wall clock of the store to the clock that does not step.
 */
function storeOfHost(
  store: Store,
  deadline: number,
  { seconds }: Limit,
  { clock, wallClock }: Clocks,
): Store {
  return {
    init: (options) => store.init?.(options),
    async increment(key) {
      const { totalHits, resetTime } = await withinDeadline(async () => store.increment(key), deadline)
      const left = resetTime instanceof Date ? resetTime.getTime() - wallClock() : 0
      // The clocks of store and process may differ, but no count lasts longer than its window.
      return { totalHits, resetTime: new Date(clock() + Math.min(left, seconds * 1000)) }
    },
    decrement: (key) => withinDeadline(async () => store.decrement(key), deadline).catch(() => undefined),
    resetKey: (key) => store.resetKey(key),
  }
}
