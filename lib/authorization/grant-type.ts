import { aCall, aTable, someTexts, textTable, yesOrNo } from '../primitives/fields'
import { exactShape, kind, optional, requireShape, shape } from '../primitives/schema'
import type { DirectAuthorization, Issued } from './issue'
import type { FoundAccess } from './lookup'
import type { OneTimeUse } from './authorization'
import type { IssueContext, Transition } from './transition'
import type { Client } from '../protocol/client'
import { isRecord, isText, isWhole } from '../primitives/values'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import { isKeepable, type Json, keepableExpectation } from '../protocol/json'
import type { Parameters } from '../protocol/parameters'
import { isSubject, subjectExpectation } from '../protocol/resource-owner'
import { isScope, type Scope, scopeExpectation } from '../protocol/scope'
import type { Counters } from '../limits/counters'

/** The client has authenticated; a public client has only named itself. */
export interface TokenRequest {
  readonly client: Client
  readonly parameters: Parameters
  /** The option `issuer`. */
  readonly issuer: string
  /**
   * Undefined for an unknown resource; the member is undefined if the server has no resources. To bind tokens
   * to resources, put their URIs into `grant.extensionData['resource-indicators']`.
   */
  readonly findResource: ((uri: string) => FoundResource | undefined) | undefined
  /** For transitions. */
  readonly context: IssueContext
  /** For a request that names none. */
  readonly defaultScope: Scope
  /** Subject to the host's `trust proxy`; undefined if the connection has closed. */
  readonly address: string | undefined
  /**
   * For failed attempts. What the grant uses up belongs into `oneTimeUse`: the write of the tokens uses it
   * up.
   */
  readonly counters: Counters
  /** Undefined if the token is unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
}

export interface FoundResource {
  /** As the option writes it. */
  readonly uri: string
  /** That a token for the resource may have. */
  readonly scopes: Scope
}

/**
 * `transition` moves an existing authorization, `grant` begins one. `members` join the token response (RFC
 * 6749 5.1); the members of the suite win.
 */
export type GrantResult = { readonly members?: Readonly<Record<string, string>> } & (
  | { readonly authorizationId: string; readonly transition: Transition<Issued> }
  | { readonly grant: DirectGrant }
)

export interface DirectGrant extends Omit<DirectAuthorization, 'clientId' | 'tokenType' | 'subject'> {
  /**
   * The resource owner. Omit it if the client acts for itself: undefined is a mistake, because a failed
   * look-up also returns it.
   */
  readonly subject?: string
}

/** RFC 6749 1.3 and 4.5. */
export interface GrantType {
  /** A registered name, or an absolute URI for an extension grant. */
  readonly name: string
  /** The server refuses a request that repeats one. */
  readonly parameters: readonly string[]
  /** Those that hold a credential: a request with one in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Whether it may give refresh tokens: a server without resource owners else offers no `refresh_token`.
   * Default true.
   */
  readonly refreshTokens?: boolean
  /**
   * Whether public clients may use it: a server without resource owners else knows none, unless an endpoint
   * of the host serves them. Default true.
   */
  readonly publicClients?: boolean
  /** For the server's metadata (RFC 8414 2). The members of the suite win. */
  readonly metadata?: ExtensionMetadata
  /**
   * Proves the grant of a request. Any result but a `GrantResult` gives `server_error`.
   *
   * @throws OAuthError to refuse the request.
   */
  handle(request: TokenRequest): Promise<GrantResult>
  /**
   * Members of introspection (RFC 7662 2.2) for the data under this grant type's name. The members of the
   * suite win.
   */
  introspect?(data: Json): Readonly<Record<string, Json>>
}

/** Whether grants give the client a refresh token. The scope does not matter. */
export const mayRefresh = (client: Client): boolean => client.grant_types.includes('refresh_token')

/** It waits for nothing. */
export interface BuiltInGrantType extends Pick<GrantType, 'name' | 'parameters'> {
  /** @throws OAuthError to refuse the request. */
  grant(request: Pick<TokenRequest, 'client' | 'parameters' | 'context' | 'defaultScope'>): GrantResult
}

export type ServedGrantType = BuiltInGrantType | Pick<GrantType, 'name' | 'parameters' | 'handle'>

/**
 * @throws TypeError that lists every mistake: a value of a host's database may be null, a number or a Buffer.
 */
export function checkedGrantType(grantType: GrantType): ServedGrantType {
  const { name, parameters } = grantType
  return {
    name,
    parameters,
    async handle(request) {
      const result: unknown = await grantType.handle(request)
      const subject = `The grant type "${name}" returned a result that gives no token:`
      return isRecord(result) && 'transition' in result
        ? requireShape(moveShape, result, subject, undefined)
        : requireShape(beginShape, result, subject, undefined)
    },
  }
}

// Characters: no request body holds more.
const longestKey = 65_536

const isKey = (value: unknown) => isText(value) && value.length <= longestKey
const isExtensionData = (value: unknown) =>
  isRecord(value) && (Object.keys(value).length === 0 || isKeepable(value))

const members = optional(textTable)

const moveShape = exactShape<Extract<GrantResult, { readonly transition: unknown }>>({
  members,
  authorizationId: kind(
    (value) => typeof value === 'string' && /^[\w-]{22}$/.test(value),
    'must be the id of an authorization.',
  ),
  transition: aCall(),
})

const oneTimeUseShape = exactShape<OneTimeUse>({
  key: kind(isKey, `must be a text of 1 to ${longestKey} characters.`),
  until: kind(isWhole(1, Number.MAX_SAFE_INTEGER), 'must be whole seconds since the epoch.'),
  refusal: aCall('must be a function that makes an OAuth error.'),
})

const accessShape = shape<Omit<FoundAccess, 'tokenData' | 'claims'>>({
  access: shape<Pick<FoundAccess['access'], 'scope'>>({ scope: someTexts }),
  extensionData: aTable,
  tokenExtensionData: aTable,
})

const subject = kind(
  isSubject,
  `${subjectExpectation} If a look-up found no owner, throw an error; if the client acts for itself, omit the member.`,
)

const grantShape = exactShape<DirectGrant>({
  subject: (given, at, name) => (name in at.source ? subject(given, at, name) : undefined),
  scope: kind(isScope, scopeExpectation),
  refreshToken: yesOrNo,
  extensionData: kind(isExtensionData, `must be an object, and ${keepableExpectation}`),
  // `issueDirectly` checks that the time is in the future.
  expiresAt: optional(kind(Number.isFinite, 'must be seconds since the epoch.')),
  oneTimeUse: optional(oneTimeUseShape),
  subjectToken: optional(accessShape),
  audience: optional(someTexts),
})

const beginShape = exactShape<Extract<GrantResult, { readonly grant: unknown }>>({
  members,
  grant: grantShape,
})
