import type { Request } from 'express'
import type { AuditLog } from '../audit/audit-log'
import type { ObserveToken } from '../authorization/observe-token'
import type { ServerStore } from '../doors/server-store'
import type { Random } from '../protocol/credential'
import type { PlugIns } from '../doors/plug-ins'
import type { ClientVerification } from '../client-authentication/authenticate-client'
import type { CredentialTerms } from '../client-authentication/read-credential'
import type { ServerStrategy } from '../client-authentication/strategies'
import type { GuardSettings, ServerSettings } from '../config/settings'
import type { NetworkLimits } from '../http/network-limits'
import type { RequestContexts } from '../http/request-context'
import type { RequestsInFlight } from '../http/requests-in-flight'
import type { Counters } from '../limits/counters'
import type { IssueLimits } from '../limits/issue-limits'
import type { DemandedLogins, OpenRequests } from '../limits/open-requests'
import type { FindToken } from '../resource-server/admit'

export interface GuardContext {
  readonly settings: GuardSettings
  readonly findToken: FindToken
  /** Without a look-up of signed tokens; undefined if no token is signed. */
  readonly findSignedToken: FindToken | undefined
  /** Explains a refused token; undefined if guards explain nothing. */
  readonly observeToken: ObserveToken | undefined
  readonly counters: Counters
  /** Seconds since the epoch. */
  readonly now: () => number
  readonly contexts: RequestContexts
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
}

interface Limits {
  readonly issuing: IssueLimits | undefined
  /** For requests of one owner that wait for a decision. */
  readonly openRequests: OpenRequests
  /** For demanded logins of one network that wait in the store. */
  readonly demandedLogins: DemandedLogins
}

export interface ServerContext extends GuardContext {
  readonly settings: ServerSettings
  /** The issuer in the records. */
  readonly issuerDigest: string
  readonly random: Random
  readonly store: ServerStore
  readonly limits: Limits
  readonly plugIns: PlugIns
  /** @throws OAuthError `temporarily_unavailable` during maintenance. Undefined if the server is always open. */
  readonly requireService: (() => Promise<void>) | undefined
  readonly networkLimits: NetworkLimits
  readonly credentialTerms: CredentialTerms
  readonly verification: ClientVerification
  readonly strategies: ReadonlyMap<string, ServerStrategy>
  /** Warns if a request names another host than the issuer. */
  readonly watchHost: (request: Request) => void
}
