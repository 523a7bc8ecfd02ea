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

/** What plug-ins, hosts and this package bring, by where it acts. */
export interface Plugins extends ActingExtensions {
  readonly grantTypes: ReadonlyMap<string, ServedGrantType>
  /** Also of response types, such as `implicit`. */
  readonly offeredGrantTypes: readonly string[]
  readonly responseTypes: ResponseTypes
  readonly responseModes: NamedModes
  readonly tokenTypes: TokenTypes
  readonly formats: ReadonlyMap<string, AccessTokenFormat>
  /** Undefined for opaque tokens. */
  readonly usualFormat: string | undefined
  /** RFC 7800 3.1. */
  readonly confirmationOf: NonNullable<IssueContext['confirmationOf']>
  readonly authorizationParameters: readonly string[]
  readonly tokenParameters: readonly string[]
  /** Those of the package do not. */
  readonly looksAtOwners: boolean
  readonly restrictors: readonly TokenRestrictor[]
  /** Without effect for clients without them. */
  readonly ignoredScope: Scope
  readonly ignoredAtRefresh: Scope
  /** Undefined if clients get those of the host. */
  readonly publishedSubject: PublishedSubject | undefined
}
