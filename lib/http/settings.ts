import type { Request, Response } from 'express'
import type { CommonSettings, Settings } from '../doors/context'
import type { PriorConsentQuestion } from '../authorization-endpoint/prior-consent'
import type { ResourceReference } from '../endpoints/protected-resource-metadata'
import type { PageOptions } from '../pages/page-options'
import type { PageLocales } from '../pages/texts/locale'
import type { Eventual } from '../primitives/eventual'
import type { AccessTokenFormat, AccessTokenReader } from '../protocol/access-token-format'
import type { Endpoint } from '../protocol/endpoint'
import type { ChoicesQuestion } from '../protocol/extension'
import type { ImpliedScopes } from '../protocol/implied-scope'
import type { LoginRequest } from '../protocol/login-request'
import type { OwnerQuestion } from '../protocol/owner-question'
import type { ResourceOwner } from '../protocol/resource-owner'
import type { ScopeDescription } from '../protocol/scope-description'
import type { AllowedOrigins } from './cors'
import type { ResolvedGuardDefaults } from './guard-defaults'

export interface GuardSettings extends CommonSettings {
  /** Undefined if only another process knows the scopes. */
  readonly scopes: ReadonlyMap<string, ScopeDescription> | undefined
  readonly ownResource?: ResourceReference | undefined
  readonly implied: ImpliedScopes | undefined
  readonly accessTokenFormats: readonly AccessTokenReader[]
  readonly guards: ResolvedGuardDefaults
  /** Undefined if CORS is off. */
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
  readonly authorizationPath: string
  /** Of hosts and plug-ins only. */
  readonly endpoints: readonly Endpoint[]
  readonly bodyDeadline: number
  readonly resourceOwner: OfHost<Eventual<ResourceOwner | string | undefined | null | false>>
  readonly skipConsent: OfHost<Eventual<boolean>, [question: PriorConsentQuestion]>
  readonly choices: OfHost<Eventual<OwnerQuestion | undefined>, [question: ChoicesQuestion]>
  readonly login:
    string | NonNullable<OfHost<unknown, [response: Response, returnTo: string, asked: LoginRequest]>>
  readonly logOut: OfHost<unknown, [response: Response]>
  readonly consentPage: PageOptions['consent']
  readonly errorPage: PageOptions['error']
  readonly popups: boolean
  readonly pageLocales: PageLocales
}

type OfHost<Result, More extends readonly unknown[] = []> =
  ((request: Request, ...more: More) => Result) | undefined
