import type { AuditLog } from '../audit/audit-log'
import type { Counters } from '../limits/counters'
import type { IssueLimits } from '../limits/issue-limits'
import type { DemandedLogins, OpenRequests } from '../limits/open-requests'
import type { Random } from '../protocol/credential'
import type { PlugIns } from './plug-ins'
import type { ServerStore } from './server-store'
import type { Settings } from './settings'

/** What the parts of one server share. Functions get it whole. */
export interface Context {
  /** Seconds since the epoch. */
  readonly now: () => number
  readonly random: Random
  readonly settings: Settings
  /** The issuer in the records. */
  readonly issuerDigest: string
  readonly store: ServerStore
  readonly counters: Counters
  readonly limits: Limits
  readonly audit: AuditLog
  readonly plugIns: PlugIns
  /** @throws OAuthError `temporarily_unavailable` during maintenance. Undefined if the server is always open. */
  readonly requireService: (() => Promise<void>) | undefined
}

interface Limits {
  readonly issuing: IssueLimits | undefined
  /** For requests of one owner that wait for a decision. */
  readonly openRequests: OpenRequests
  /** For demanded logins of one network that wait in the store. */
  readonly demandedLogins: DemandedLogins
}
