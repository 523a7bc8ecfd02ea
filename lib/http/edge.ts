import type { Request, Response } from 'express'
import type { AuditLog } from '../audit/audit-log'
import type { PriorConsentQuestion } from '../authorization-endpoint/visit'
import type { ClientVerification } from '../client-authentication/authenticate-client'
import type { CredentialTerms } from '../client-authentication/read-credential'
import type { CommonSettings, Context, Settings } from '../doors/context'
import type { Counters } from '../limits/counters'
import type { PageOptions } from '../pages/page-options'
import type { PageLocales } from '../pages/texts/locale'
import type { PrivateState } from '../primitives/private-state'
import type { AccessTokenFormat, AccessTokenReader } from '../protocol/access-token-format'
import type { Endpoint } from '../protocol/endpoint'
import type { ChoicesQuestion } from '../protocol/extension'
import type { LoginRequest } from '../protocol/resource-owner'
import type { ImpliedScopes, ScopeDescription } from '../protocol/scope'
import type { TokenSource } from '../resource-server/admit'
import type { Challenge } from '../resource-server/challenge'
import type { AllowedOrigins } from './cors'
import type { NetworkLimits } from './network-limits'
import type { RequestsInFlight } from './requests-in-flight'

export interface GuardEdge extends TokenSource {
  readonly settings: GuardSettings
  readonly counters: Counters
  /** Seconds since the epoch. */
  readonly now: () => number
  readonly usedOnce: PrivateState<Request, ReadonlySet<string>>
  readonly audit: AuditLog
  readonly requests: RequestsInFlight
}

export interface Edge extends Context, GuardEdge {
  readonly settings: EdgeSettings
  readonly networkLimits: NetworkLimits
  readonly credentialTerms: CredentialTerms
  readonly verification: ClientVerification
  /**
   * Nothing that a host writes onto a request passes for a proven client, and no client of another server.
   */
  readonly requestsAsked: PrivateState<Request, object>
  readonly watchHost: (request: Request) => void
}

export interface Exchange {
  readonly server: Edge
  readonly request: Request
  readonly response: Response
}

export interface ResolvedGuardDefaults extends Challenge {
  readonly authInfo: boolean
  readonly cors: AllowedOrigins
}

export interface GuardSettings extends CommonSettings {
  readonly scopes: ReadonlyMap<string, ScopeDescription> | undefined
  readonly implied: ImpliedScopes | undefined
  readonly accessTokenFormats: readonly AccessTokenReader[]
  readonly guards: ResolvedGuardDefaults
  readonly cors: AllowedOrigins
  readonly closeDeadline: number
  /** False in production, whatever the option says. */
  readonly explainRefusals: boolean
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface EdgeSettings extends Settings, GuardSettings {
  readonly scopes: ReadonlyMap<string, ScopeDescription>
  readonly accessTokenFormats: readonly AccessTokenFormat[]
  /** False only for an http issuer on a loopback host. */
  readonly tlsRequired: boolean
  readonly paths: { readonly authorization: string }
  readonly endpoints: readonly Endpoint[]
  readonly bodyDeadline: number
  readonly resourceOwner: ((request: Request) => unknown) | undefined
  readonly skipConsent: ((request: Request, question: PriorConsentQuestion) => unknown) | undefined
  readonly choices: ((request: Request, question: ChoicesQuestion) => unknown) | undefined
  readonly login:
    string | ((request: Request, response: Response, returnTo: string, asked: LoginRequest) => unknown)
  readonly logOut: ((request: Request, response: Response) => unknown) | undefined
  readonly consentPage: PageOptions['consent']
  readonly errorPage: PageOptions['error']
  readonly popups: boolean
  readonly pageLocales: PageLocales
}
