import type { AuditLog } from '../audit/audit-log'
import type { Counters } from '../limits/counters'
import type { IssueLimits } from '../limits/shares'
import type { OpenRequests } from '../limits/windows'
import type { Random } from '../protocol/credential'
import type { Store } from '../store/store'
import type { Owners } from '../authorization/owners'
import type { ClientMarks } from '../authorization/client-marks'
import type { ConsentMemory } from '../authorization/remembered-consent'
import type { IndexedSince } from '../authorization/owner-entries'
import type { FindAccess } from '../authorization/lookup'
import type { AuthorizationStore, StoredAuthorization } from '../authorization/store'
import type { GrantType, ServedGrantType } from '../authorization/grant-type'
import type { ResponseType } from '../authorization/response-types'
import type { TokenRestrictor } from '../authorization/restrict'
import { lifetimesFor, type Lifetimes } from '../authorization/lifetimes'
import type { DocumentFetch } from '../clients/document-fetch/document-fetch'
import type { Resources } from '../extensions/resource-indicators/resources'
import type { AccessTokenFormat } from '../protocol/access-token-format'
import type { Client, FindClient, PublishedSubject } from '../protocol/client'
import type { ActingExtensions } from '../protocol/acting-extensions'
import type { Extension } from '../protocol/extension'
import type { NamedModes } from '../protocol/response-types'
import type { Scope, ScopeDescription } from '../protocol/scope'
import type { TokenType, TokenTypes } from '../protocol/token-type'
import { keeperFor } from '../authorization/redeem'
import type { IssueContext } from '../authorization/transition'
import { noEvidence, type Evidence } from '../protocol/extension-data'

export interface Context {
  /** Seconds since the epoch. */
  readonly now: () => number
  readonly random: Random
  readonly settings: Settings
  readonly issuerDigest: string
  readonly store: ServerStore
  readonly counters: Counters
  readonly limits: Limits
  readonly audit: AuditLog
  readonly plugins: Plugins
  /** @throws OAuthError `temporarily_unavailable` during maintenance. */
  readonly requireService: (() => Promise<void>) | undefined
}

interface Limits {
  readonly issuing: IssueLimits
  /** Of one owner. */
  readonly openRequests: OpenRequests<string>
  /** Of one network, before their owner is known. */
  readonly demandedLogins: OpenRequests<string | undefined>
}

/** Of one issuer. */
export interface ServerStore extends AuthorizationStore {
  readonly findAccess: FindAccess
  /** What this process wrote last. Only a save with the same expected revision may rest on it. */
  readonly takeCached: (id: string) => StoredAuthorization | undefined
  readonly underlying: Store
  readonly owners: Owners
  /** By the option `authorizations` or a plug-in. */
  readonly listsOwners: boolean
  readonly clientMarks: ClientMarks | undefined
  readonly indexedSince: IndexedSince | undefined
  readonly consents: ConsentMemory | undefined
}

export interface CommonSettings {
  readonly issuer: string
  readonly errorUri: string | undefined
  readonly resources: Resources | undefined
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
}

export interface Settings extends CommonSettings {
  /** Of the issuer, without a slash at its end. */
  readonly mount: string
  readonly scopes: ReadonlyMap<string, ScopeDescription>
  readonly defaultScope: Scope
  readonly tokenType: string
  readonly accessTokenFormats: readonly AccessTokenFormat[]
  /** Without the built-in ones. */
  readonly grantTypes: readonly GrantType[]
  readonly findClient: FindClient
  readonly clientDocuments: DocumentFetch
  readonly lifetimes: Lifetimes
  readonly refreshTokenExpiresIn: boolean
  readonly refreshTokenRotation: boolean
  readonly rememberConsent: { readonly seconds: number } | undefined
  /** Where owners can end an access. */
  readonly manageAt: string | undefined
  readonly storeDeadline: number
}

/** What plug-ins, hosts and this package bring, by where it acts. */
export interface Plugins extends ActingExtensions {
  readonly grantTypes: ReadonlyMap<string, ServedGrantType>
  /** Also of response types, such as `implicit`. */
  readonly offeredGrantTypes: readonly string[]
  /** By canonical name. */
  readonly responseTypes: ReadonlyMap<string, ResponseType>
  readonly responseModes: NamedModes
  readonly tokenTypes: TokenTypes
  readonly formats: ReadonlyMap<string, AccessTokenFormat>
  /** Undefined for opaque tokens. */
  readonly usualFormat: string | undefined
  /** RFC 7800 3.1. */
  readonly confirmationOf: NonNullable<IssueContext['confirmationOf']>
  readonly authorizationParameters: readonly string[]
  readonly tokenParameters: readonly string[]
  /** Extensions of the package do not. */
  readonly looksAtOwners: boolean
  readonly restrictors: readonly TokenRestrictor[]
  /** Without effect for clients without them. */
  readonly ignoredScope: Scope
  readonly ignoredAtRefresh: Scope
  /** Undefined if clients get those of the host. */
  readonly publishedSubject: PublishedSubject | undefined
}

export function issueContext(
  server: Context,
  client: Client,
  restrict: IssueContext['restrict'],
  evidence: Evidence = noEvidence,
  now = server.now(),
): IssueContext {
  const { settings, plugins, limits, random, issuerDigest } = server
  return {
    now,
    issuerDigest,
    random,
    lifetimes: lifetimesFor(client, settings.lifetimes),
    tokenTypes: plugins.tokenTypes,
    usualFormat: plugins.usualFormat,
    formats: plugins.formats,
    evidence,
    confirmationOf: plugins.confirmationOf,
    countIssue: limits.issuing.countOfRequest(),
    keepsRefreshToken: keeperFor(client, settings),
    restrict,
  }
}
