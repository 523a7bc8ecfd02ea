import type { Request } from 'express'
import type { AuditLog } from '../audit/audit-log'
import type { ConsentMemory } from '../authorization-endpoint/consent-memory'
import type { NamedModes } from '../authorization-endpoint/response-modes'
import type { ResponseTypes } from '../authorization-endpoint/response-types'
import type { OwnerIndex } from '../authorization/authorization-index'
import type { ClientMarks } from '../authorization/client-marks'
import type { IndexedSince } from '../authorization/indexed-since'
import type { ConsentStore } from '../authorization/consent-store'
import type { FindAccess } from '../authorization/lookup'
import type { ObserveToken } from '../authorization/observe-token'
import type { CompleteIssue } from '../authorization/complete-issue'
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
import type { Extension } from '../protocol/extension'
import type { PublishedSubject } from '../protocol/published-subject'
import type { Scope } from '../protocol/scope'
import type { FindToken } from '../resource-server/admit'
import type { OwnWrites } from '../stores/own-writes'
import type { ServedGrantType } from '../token-endpoint/grant-type'
import type { TokenRestrictor } from '../token-endpoint/restrict'

/** The parts that all guards of one server share. Guards without a server in the same process have these, too. */
export interface GuardContext {
  readonly settings: GuardSettings
  /** Looks up a token of a request at a guard. */
  readonly findToken: FindToken
  /** As `findToken`, but a token with a signature needs no look-up; undefined if no token has one. */
  readonly findSignedToken: FindToken | undefined
  /** Looks again at a token that a guard has refused, for an explanation; undefined if guards explain nothing. */
  readonly observeToken: ObserveToken | undefined
  readonly counters: Counters
  /** Seconds since the epoch. */
  readonly now: () => number
  /** The contexts of the requests of this server. */
  readonly contexts: RequestContexts
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
}

/** The parts that all endpoints and guards of one server share. */
export interface ServerContext extends GuardContext {
  readonly settings: ServerSettings
  readonly store: AuthorizationStore
  /** The index of the authorizations of resource owners, with the deadline of the store; undefined if nothing needs it. */
  readonly index: OwnerIndex | undefined
  /** The marks "revoked before" of clients; undefined without the option `authorizations`. */
  readonly clientMarks: ClientMarks | undefined
  /** Undefined without the option `authorizations`. */
  readonly indexedSince: IndexedSince | undefined
  /** Remembers what owners have allowed; undefined if the option `rememberConsent` is off. */
  readonly consents: ConsentMemory | undefined
  /** The consents in the store, with its deadline, also if the option is off; undefined for a store without consents. */
  readonly consentStore: ConsentStore | undefined
  readonly takeCached: OwnWrites['takeCached']
  /** Undefined if the limits are off. */
  readonly issueLimits: IssueLimits | undefined
  /** The extensions that act at token requests. */
  readonly restrictors: readonly TokenRestrictor[]
  /**
   * Makes the context of one request.
   *
   * @param restrict asks the extensions about an access token. Default: no extension restricts the token.
   * @param evidence what the extensions found in the request. Default: nothing.
   * @param client the client that gets tokens; its registration may shorten them. Default: the context issues none.
   * @param now seconds since the epoch. Default: now.
   */
  readonly issueContext: (
    restrict?: IssueContext['restrict'],
    evidence?: Evidence,
    client?: Client,
    now?: number,
  ) => IssueContext
  /** Completes access tokens before the server stores them; undefined if nothing would. */
  readonly complete: CompleteIssue | undefined
  /** Returns the `sub` that a client gets; undefined if clients get the subjects of the host. */
  readonly publishedSubject: PublishedSubject | undefined
  /** @throws OAuthError `temporarily_unavailable` during maintenance. Undefined if the server is always open. */
  readonly requireService: (() => Promise<void>) | undefined
  /** The grant types that the token endpoint offers, by name. */
  readonly grantTypes: ReadonlyMap<string, ServedGrantType>
  /** Finds an access token for which this server answers: at introspection and at token exchange. */
  readonly findAccess: FindAccess
  readonly responseTypes: ResponseTypes
  /** Scope tokens that count for nothing in requests of clients that do not have them. */
  readonly ignoredScope: Scope
  /** The response modes that a request may name in place of that of its response type. */
  readonly responseModes: NamedModes
  /** Limits the requests of each resource owner that wait for a decision. */
  readonly openRequests: OpenRequests
  /** The extensions with `resolveRequest`; undefined if there are none. */
  readonly requestResolvers: readonly Extension[] | undefined
  /** The extensions with `loginDefaults`; undefined if there are none. */
  readonly loginDefaults: readonly Extension[] | undefined
  /** The extensions with `atResourceOwner`; undefined if there are none. */
  readonly ownerExtensions: readonly Extension[] | undefined
  /** The extensions with `askOwner`; undefined if there are none. */
  readonly askers: readonly Extension[] | undefined
  /** The extensions with `atDecision`; undefined if there are none. */
  readonly deciders: readonly Extension[] | undefined
  /** The extensions with `atRefresh`; undefined if there are none. */
  readonly refreshExtensions: readonly Extension[] | undefined
  /** Limits the demanded logins of each network that wait in the store. */
  readonly demandedLogins: DemandedLogins
  /** Waits until the client has probably redeemed a code that is on its way. */
  readonly letArrive: () => Promise<void>
  /** The limits by network. */
  readonly networkLimits: NetworkLimits
  /** How clients may authenticate. */
  readonly credentialTerms: CredentialTerms
  readonly verification: ClientVerification
  /** The methods of client authentication as Passport strategies, by name. */
  readonly strategies: ReadonlyMap<string, ServerStrategy>
  /** Warns if a request names another host than the issuer. */
  readonly watchHost: (request: Request) => void
}
