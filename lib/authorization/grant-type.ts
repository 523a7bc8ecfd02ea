import type { DirectAuthorization, Issued } from './issue'
import type { FoundAccess } from './lookup'
import type { OneTimeUse } from './one-time-use'
import type { IssueContext, Transition } from './transition'
import type { Client } from '../protocol/client'
import { ConfigurationError, type ConfigurationIssue } from '../primitives/configuration-error'
import { isBoolean, isRecord, isText, isTexts } from '../primitives/values'
import { issuesIn, omittable, optional, required, shape } from '../primitives/shape'
import type { ExtensionMetadata } from '../protocol/extension-metadata'
import { isKeepable, type Json, keepableExpectation } from '../protocol/json'
import type { Parameters } from '../protocol/parameters'
import { isSubject, subjectExpectation } from '../protocol/resource-owner'
import { isScope, type Scope, scopeExpectation } from '../protocol/scope'
import type { Counters } from '../limits/counters'

/** A token request of a client that has authenticated; a public client has only named itself. */
export interface TokenRequest {
  readonly client: Client
  readonly parameters: Parameters
  /** The option `issuer` of the server. */
  readonly issuer: string
  /**
   * The protected resource of a URI; undefined for an unknown one. The member is undefined if the server has no
   * resources. To bind tokens to resources, put their URIs into `grant.extensionData['resource-indicators']`.
   */
  readonly findResource: ((uri: string) => FoundResource | undefined) | undefined
  /** For transitions: the time, random bytes and lifetimes. */
  readonly context: IssueContext
  /** The scope of a request that names none. */
  readonly defaultScope: Scope
  /** Subject to the host's `trust proxy`; undefined if the connection has closed. */
  readonly address: string | undefined
  /**
   * For failed attempts. Put a value that the grant uses up into `oneTimeUse` instead: the write of the tokens
   * then uses it up.
   */
  readonly counters: Counters
  /** Finds an access token of this server; undefined if unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
}

export interface FoundResource {
  /** As the option writes it. */
  readonly uri: string
  /** The scopes that a token for the resource may have. */
  readonly scopes: Scope
}

/**
 * The token endpoint, and no grant type, issues tokens.
 *
 * `transition` moves an existing authorization, `grant` begins one. `members` join the token response (RFC 6749
 * 5.1); the members of the suite win.
 */
export type GrantResult = { readonly members?: Readonly<Record<string, string>> } & (
  | { readonly authorizationId: string; readonly transition: Transition<Issued> }
  | { readonly grant: DirectGrant }
)

export interface DirectGrant extends Omit<DirectAuthorization, 'clientId' | 'tokenType' | 'subject'> {
  /**
   * The resource owner. Omit it if the client acts for itself. Undefined is a mistake, because a failed look-up
   * also returns it.
   */
  readonly subject?: string
}

/** RFC 6749 1.3 and 4.5. */
export interface GrantType {
  /** The value of `grant_type`: a registered name, or an absolute URI for an extension grant. */
  readonly name: string
  /** The server refuses a request that repeats one. */
  readonly parameters: readonly string[]
  /** Parameters that hold a credential. A request with one in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Whether it may give refresh tokens. A server without resource owners offers `refresh_token` only if a grant
   * type may. Default true.
   */
  readonly refreshTokens?: boolean
  /**
   * Whether public clients may use it. A server without resource owners knows public clients only if a grant
   * type, or an endpoint of the host, may serve them. Default true.
   */
  readonly publicClients?: boolean
  /** Members of the server's metadata (RFC 8414 2). The members of the suite win. */
  readonly metadata?: ExtensionMetadata
  /**
   * Proves the grant of a request. Any result but a `GrantResult` gives `server_error` and no token.
   *
   * @throws OAuthError to refuse the request.
   */
  handle(request: TokenRequest): Promise<GrantResult>
  /**
   * Members of introspection for an authorization with data under this grant type's name (RFC 7662 2.2). The
   * members of the suite win.
   */
  introspect?(data: Json): Readonly<Record<string, Json>>
}

/**
 * Whether grants give the client a refresh token: if it is registered for `refresh_token`. The scope does not
 * matter.
 */
export function mayRefresh(client: Client): boolean {
  return client.grant_types.includes('refresh_token')
}

/** A grant type of the suite that waits for nothing. */
export interface BuiltInGrantType extends Pick<GrantType, 'name' | 'parameters'> {
  /** @throws OAuthError to refuse the request. */
  grant(request: Pick<TokenRequest, 'client' | 'parameters' | 'context' | 'defaultScope'>): GrantResult
}

export type ServedGrantType = BuiltInGrantType | Pick<GrantType, 'name' | 'parameters' | 'handle'>

/**
 * A value of a host's database may be null, a number or a Buffer. `handle` rejects with a ConfigurationError
 * that lists every mistake.
 */
export function checkedGrantType(grantType: GrantType): ServedGrantType {
  const { name, parameters } = grantType
  return {
    name,
    parameters,
    async handle(request) {
      const result: unknown = await grantType.handle(request)
      requireGrantResult(result, name)
      return result
    },
  }
}

function requireGrantResult(answer: unknown, grantType: string): asserts answer is GrantResult {
  const issues = issuesOf(answer)
  if (issues.length > 0)
    throw new ConfigurationError(
      `The grant type "${grantType}" returned a result that gives no token:`,
      issues,
    )
}

function issuesOf(answer: unknown): readonly ConfigurationIssue[] {
  if (!isRecord(answer)) return [{ path: 'handle()', message: 'must return an object.' }]
  return issuesIn('transition' in answer ? moveShape : beginShape, answer, undefined)
}

// Characters. No request body holds more. The store gets only a digest.
const longestKey = 65_536

const isFunction = (value: unknown) => typeof value === 'function'
const isMembers = (value: unknown) =>
  isRecord(value) && Object.values(value).every((member) => typeof member === 'string')
const isId = (value: unknown) => typeof value === 'string' && /^[\w-]{22}$/.test(value)
const isWholeSecond = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0
// `issueDirectly` checks that the time is in the future.
const isEnd = (value: unknown) => typeof value === 'number'
const isExtensionData = (value: unknown) =>
  isRecord(value) && (Object.keys(value).length === 0 || isKeepable(value))
const isAccess = (value: unknown) =>
  isRecord(value) &&
  isRecord(value['access']) &&
  isTexts(value['access']['scope']) &&
  isRecord(value['extensionData']) &&
  isRecord(value['tokenExtensionData'])
const isKey = (value: unknown) => isText(value) && value.length <= longestKey

const members = optional(isMembers, 'must be an object of texts.')

const moveShape = shape<Extract<GrantResult, { readonly transition: unknown }>>({
  members,
  authorizationId: required(isId, 'must be the id of an authorization.'),
  transition: required(isFunction, 'must be a function.'),
})

const oneTimeUseShape = shape<OneTimeUse>({
  key: required(isKey, `must be a text of 1 to ${longestKey} characters.`),
  until: required(isWholeSecond, 'must be whole seconds since the epoch.'),
  refusal: required(isFunction, 'must be a function that makes an OAuth error.'),
})

const grantShape = shape<DirectGrant>({
  subject: omittable(
    isSubject,
    `${subjectExpectation} If a look-up found no owner, throw an error; if the client acts for itself, omit the member.`,
  ),
  scope: required(isScope, scopeExpectation),
  refreshToken: required(isBoolean, 'must be true or false.'),
  extensionData: required(isExtensionData, `must be an object, and ${keepableExpectation}`),
  expiresAt: optional(isEnd, 'must be whole seconds since the epoch.'),
  oneTimeUse: optional(oneTimeUseShape, 'must be { key, until, refusal }.'),
  subjectToken: optional(isAccess, 'must be a result of findAccess().'),
  audience: optional(isTexts, 'must be a list of texts.'),
})

const beginShape = shape<Extract<GrantResult, { readonly grant: unknown }>>({
  members,
  grant: required(grantShape, 'must be an object.'),
})
