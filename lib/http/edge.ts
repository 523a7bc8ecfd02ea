import type { Request } from 'express'
import type { AuditLog } from '../audit/audit-log'
import type { ObserveToken } from '../authorization/observe-token'
import type { ClientVerification } from '../client-authentication/authenticate-client'
import type { CredentialTerms } from '../client-authentication/read-credential'
import type { ClientStrategy } from '../client-authentication/strategies'
import type { Context } from '../doors/context'
import type { Counters } from '../limits/counters'
import type { FindToken } from '../resource-server/admit'
import type { NetworkLimits } from './network-limits'
import type { RequestContexts } from './request-context'
import type { RequestsInFlight } from './requests-in-flight'
import type { EdgeSettings, GuardSettings } from './settings'

export interface TokenLookUp {
  readonly findToken: FindToken
  /** Without a look-up of signed tokens; undefined if no token is signed. */
  readonly findSignedToken?: FindToken | undefined
  /** Explains a refused token; undefined if guards explain nothing. */
  readonly observeToken?: ObserveToken | undefined
}

export interface GuardEdge extends TokenLookUp {
  readonly settings: GuardSettings
  readonly counters: Counters
  /** Seconds since the epoch. */
  readonly now: () => number
  readonly contexts: RequestContexts
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
}

/** The context, and what only requests of Express need. */
export interface Edge extends Context, GuardEdge {
  readonly settings: EdgeSettings
  readonly networkLimits: NetworkLimits
  readonly credentialTerms: CredentialTerms
  readonly verification: ClientVerification
  readonly strategies: readonly ClientStrategy[]
  /** Warns if a request names another host than the issuer. */
  readonly watchHost: (request: Request) => void
}
