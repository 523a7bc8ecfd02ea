import type { AccessTokenFormat } from '../protocol/access-token-format'
import type { ActingExtensions } from '../protocol/extension'
import type { PublishedSubject } from '../protocol/client'
import type { NamedModes } from '../protocol/response-types'
import type { Scope } from '../protocol/scope'
import type { TokenTypes } from '../protocol/token-type'
import type { ServedGrantType } from '../authorization/grant-type'
import type { IssueContext } from '../authorization/transition'
import type { ResponseTypes } from '../authorization/response-types'
import type { TokenRestrictor } from '../authorization/restrict'

/** What plug-ins, hosts and this package bring, sorted once by where it acts. */
export interface Plugins extends ActingExtensions {
  /** What the metadata does not offer is unsupported here, too. */
  readonly grantTypes: ReadonlyMap<string, ServedGrantType>
  /** Also those of response types, such as `implicit`. */
  readonly offeredGrantTypes: readonly string[]
  readonly responseTypes: ResponseTypes
  /** A request may name them in place of that of its response type. */
  readonly responseModes: NamedModes
  readonly tokenTypes: TokenTypes
  /** By name. */
  readonly formats: ReadonlyMap<string, AccessTokenFormat>
  /** Of new tokens for which nothing chooses one; undefined for opaque tokens. */
  readonly usualFormat: string | undefined
  /** What a token is bound to: `cnf` (RFC 7800 3.1). */
  readonly confirmationOf: NonNullable<IssueContext['confirmationOf']>
  /** Of all extensions. */
  readonly authorizationParameters: readonly string[]
  /** Of all extensions. */
  readonly tokenParameters: readonly string[]
  /** Those of the package look at the request alone. */
  readonly looksAtOwners: boolean
  readonly restrictors: readonly TokenRestrictor[]
  /** These tokens count for nothing in requests of clients without them. */
  readonly ignoredScope: Scope
  /** Such as `offline_access`. */
  readonly ignoredAtRefresh: Scope
  /** Undefined if clients get the subjects of the host. */
  readonly publishedSubject: PublishedSubject | undefined
}
