import { IssueLimits } from './attempts/issue-limits'
import { withSingleUseLimit } from './attempts/single-uses'
import type { IssueContext } from './authorization/circumstances'
import { countersOfIssuer, issuerDigest, storeOfIssuer } from './authorization/of-issuer'
import { AuditLog } from './express/reports'
import { RequestsInFlight } from './express/requests-in-flight'
import { secureRandom } from './protocol/credential'
import { temporarilyUnavailable } from './protocol/oauth-error'
import { byName } from './resolve-token-types'
import type { ServerSettings } from './settings'
import type { AuthorizationStore } from './stores/authorization-store'
import type { Counters } from './stores/counters'
import { countersWithDeadline, withDeadline } from './stores/deadline'
import { writeBackCache, type WriteBackCache } from './stores/recently-written'
import { networkLimitsOf, type NetworkLimits } from './wire-admission'

/** What every room of one server is wired to. */
export interface ServerContext {
  readonly settings: ServerSettings
  readonly store: AuthorizationStore
  readonly takeCached: WriteBackCache['takeCached']
  readonly counters: Counters
  readonly issueLimits: IssueLimits
  /** New ones for each request. */
  readonly context: () => IssueContext
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: () => void | Promise<void>
  /** One count for all parts of a kind, however often they are made. */
  readonly admit: NetworkLimits
  readonly reports: AuditLog
  readonly requests: RequestsInFlight
}

export function createServerContext(settings: ServerSettings): ServerContext {
  const { clock, issuer, lifetimes, maintenance } = settings
  const ownDigest = issuerDigest(issuer)
  const tokenTypes = byName(settings.tokenTypes)
  const issueLimits = new IssueLimits(settings.issueLimits, clock)
  return {
    settings,
    ...writeBackCache(storeOfIssuer(withDeadline(settings.store, settings.storeDeadline), ownDigest)),
    counters: countersOfIssuer(
      withSingleUseLimit(
        countersWithDeadline(settings.counters, settings.storeDeadline),
        settings.singleUseLimit,
        clock,
      ),
      ownDigest,
    ),
    issueLimits,
    context: () => {
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
      }
    },
    requireService: maintenance === undefined ? () => {} : unlessClosed(maintenance),
    admit: networkLimitsOf(settings),
    reports: new AuditLog(clock),
    requests: new RequestsInFlight(),
  }
}

function unlessClosed(maintenance: NonNullable<ServerSettings['maintenance']>): () => Promise<void> {
  return async () => {
    const isClosed: unknown = await maintenance()
    if (isClosed === true)
      throw temporarilyUnavailable('maintenance', 'The server is closed for maintenance.')
  }
}
