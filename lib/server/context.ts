import type { Request } from 'express'
import type { AuditLog } from '../audit/audit-log'
import type { ConsentMemory } from '../authorization-endpoint/consent-memory'
import type { OwnerIndex } from '../authorization/authorization-index'
import type { ClientMarks } from '../authorization/client-marks'
import type { IndexedSince } from '../authorization/indexed-since'
import type { ConsentStore } from '../authorization/consent-store'
import type { FindAccess } from '../authorization/lookup'
import type { ObserveToken } from '../authorization/observe-token'
import type { PlugIns } from '../doors/plug-ins'
import type { AuthorizationStore } from '../authorization/store'
import type { IssueContext } from '../authorization/transition'
import type { ClientVerification } from '../client-authentication/authenticate-client'
import type { CredentialTerms } from '../client-authentication/read-credential'
import type { ServerStrategy } from '../client-authentication/strategies'
import type { GuardSettings, ServerSettings } from '../config/settings'
import type { NetworkLimits } from '../http/network-limits'
import type { Client } from '../protocol/client'
import type { Evidence } from '../protocol/evidence'
import type { RequestContexts } from '../http/request-context'
import type { RequestsInFlight } from '../http/requests-in-flight'
import type { Counters } from '../limits/counters'
import type { IssueLimits } from '../limits/issue-limits'
import type { DemandedLogins, OpenRequests } from '../limits/open-requests'
import type { FindToken } from '../resource-server/admit'
import type { OwnWrites } from '../stores/own-writes'

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

export interface ServerContext extends GuardContext {
  readonly settings: ServerSettings
  readonly store: AuthorizationStore
  readonly index: OwnerIndex | undefined
  /** Undefined without the option `authorizations`. */
  readonly clientMarks: ClientMarks | undefined
  /** Undefined without the option `authorizations`. */
  readonly indexedSince: IndexedSince | undefined
  readonly consents: ConsentMemory | undefined
  /** Also without the option `rememberConsent`. */
  readonly consentStore: ConsentStore | undefined
  readonly takeCached: OwnWrites['takeCached']
  readonly issueLimits: IssueLimits | undefined
  readonly plugIns: PlugIns
  /**
   * Default: no restriction, no evidence, no client and so no tokens, now in seconds since the epoch.
   *
   * @param client its registration may shorten tokens.
   */
  readonly issueContext: (
    restrict?: IssueContext['restrict'],
    evidence?: Evidence,
    client?: Client,
    now?: number,
  ) => IssueContext
  /** @throws OAuthError `temporarily_unavailable` during maintenance. Undefined if the server is always open. */
  readonly requireService: (() => Promise<void>) | undefined
  readonly findAccess: FindAccess
  /** For requests of one owner that wait for a decision. */
  readonly openRequests: OpenRequests
  /** For demanded logins of one network that wait in the store. */
  readonly demandedLogins: DemandedLogins
  /** Until the client has probably redeemed a code on its way. */
  readonly letArrive: () => Promise<void>
  readonly networkLimits: NetworkLimits
  readonly credentialTerms: CredentialTerms
  readonly verification: ClientVerification
  readonly strategies: ReadonlyMap<string, ServerStrategy>
  /** Warns if a request names another host than the issuer. */
  readonly watchHost: (request: Request) => void
}
