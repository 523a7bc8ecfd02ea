import type { DirectAuthorization, Issued } from '../authorization/issue'
import type { FoundAccess } from '../authorization/lookup'
import type { IssueContext, Transition } from '../authorization/transition'
import type { Client } from '../protocol/client'
import {
  ConfigurationError,
  type ConfigurationIssue,
  isBoolean,
  isRecord,
  isText,
  isTexts,
} from '../protocol/configuration'
import { type ExtensionMetadata, isKeepable, type Json, keepableCure } from '../protocol/extension'
import type { Parameters } from '../protocol/parameters'
import { isSubject, subjectCure } from '../protocol/resource-owner'
import { isScope, type Scope, scopeCure } from '../protocol/scope'
import type { Counters } from '../stores/counters'

/** A token request of a client that has authenticated, or that has named itself if it is a public client. */
export interface TokenRequest {
  /** The client of the request. */
  readonly client: Client
  /** The parameters of the body. */
  readonly parameters: Parameters
  /** The issuer: the option `issuer` of the server. */
  readonly issuer: string
  /**
   * The URI of the protected resource that a URI names, as the option `resources` writes it; undefined for an unknown
   * one. The member is undefined if the server names no resources. To bind tokens to resources, put their URIs into
   * `grant.extensionData['resource-indicators']`.
   */
  readonly findResource: ((uri: string) => string | undefined) | undefined
  /** The context for transitions: the time, random bytes and lifetimes. */
  readonly context: IssueContext
  /** The scope of a request that names none. */
  readonly defaultScope: Scope
  /**
   * The address of the client, subject to the `trust proxy` setting of the host; undefined if the connection has
   * closed.
   */
  readonly address: string | undefined
  /**
   * Counters for failed attempts. Put a value that the grant uses up into `oneTimeUse` instead: the write that creates
   * the tokens then uses the value up.
   */
  readonly counters: Counters
  /** Finds an access token of this server; undefined if the token is unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
}

/**
 * The result of a grant type. A grant type issues no tokens: the token endpoint issues the tokens of all grant types.
 *
 * `transition` moves an existing authorization. `grant` begins a new authorization. `members` are additional members of
 * the token response (RFC 6749 5.1); the members of the suite win.
 */
export type GrantResult = { readonly members?: Readonly<Record<string, string>> } & (
  | { readonly authorizationId: string; readonly transition: Transition<Issued> }
  | { readonly grant: DirectGrant }
)

/** A grant that begins an authorization. */
export interface DirectGrant extends Omit<DirectAuthorization, 'clientId' | 'tokenType' | 'subject'> {
  /**
   * The resource owner. Omit the member if the client acts for itself. A member with the value undefined is a mistake,
   * because a look-up without a result also returns undefined.
   */
  readonly subject?: string
}

/** A grant type, of the suite or of a host (RFC 6749 1.3 and 4.5). */
export interface GrantType {
  /** The value of `grant_type`: a registered name, or an absolute URI for an extension grant. */
  readonly name: string
  /** The parameters that the grant type reads. The server refuses a request that repeats one of them. */
  readonly parameters: readonly string[]
  /** Parameters that hold a credential. A request that has one of them in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Whether the grant type may give refresh tokens. A server without resource owners offers `refresh_token` only if one
   * of its grant types may. Default true.
   */
  readonly refreshTokens?: boolean
  /**
   * Whether public clients may use the grant type. A server without resource owners knows public clients only if one of
   * its grant types, or an endpoint of the host, may serve them. Default true.
   */
  readonly publicClients?: boolean
  /** Members that the grant type adds to the metadata of the server (RFC 8414 2). The members of the suite win. */
  readonly metadata?: ExtensionMetadata
  /**
   * Proves the grant of a request. If the result is not a `GrantResult`, the client gets `server_error` and no token.
   *
   * @throws OAuthError to refuse the request.
   */
  handle(request: TokenRequest): Promise<GrantResult>
  /**
   * Returns members that introspection adds about an authorization that keeps data under the name of this grant type
   * (RFC 7662 2.2). The members of the suite win.
   */
  introspect?(data: Json): Readonly<Record<string, Json>>
}

/**
 * Whether a client gets a refresh token with a grant: if its registration has the grant type `refresh_token`. The scope
 * does not matter.
 */
export function mayRefresh(client: Client): boolean {
  return client.grant_types.includes('refresh_token')
}

/**
 * Checks the result of a grant type. Hosts write grant types, and a value from their database may be null, a number or
 * a Buffer.
 *
 * @throws ConfigurationError that names the grant type and lists every mistake.
 */
export function requireGrantResult(answer: unknown, grantType: string): asserts answer is GrantResult {
  const issues = issuesIn(answer)
  if (issues.length > 0)
    throw new ConfigurationError(
      `The grant type "${grantType}" returned a result that gives no token:`,
      issues,
    )
}

// In characters. A request body cannot contain a longer key. The store gets only a digest of the key.
const longestKey = 65_536

/** A rule for one field. `mayLack` marks an optional field. */
interface Rule {
  readonly accepts: (value: unknown) => boolean
  readonly message: string
  readonly mayLack?: true
}

type Rules = ReadonlyMap<string, Rule>

const isFunction = (value: unknown) => typeof value === 'function'
const isMembers = (value: unknown) =>
  isRecord(value) && Object.values(value).every((member) => typeof member === 'string')
const isId = (value: unknown) => typeof value === 'string' && /^[\w-]{22}$/.test(value)
const isWholeSecond = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0
// `issueDirectly` checks that the time is in the future.
const isEnd = (value: unknown) => value === undefined || typeof value === 'number'
const isUse = (value: unknown) => value === undefined || isRecord(value)
const isExtensionData = (value: unknown) =>
  isRecord(value) && (Object.keys(value).length === 0 || isKeepable(value))
const isAccess = (value: unknown) =>
  value === undefined ||
  (isRecord(value) &&
    isRecord(value['access']) &&
    isTexts(value['access']['scope']) &&
    isRecord(value['extensionData']) &&
    isRecord(value['tokenExtensionData']))
const isAudience = (value: unknown) => value === undefined || isTexts(value)
const isKey = (value: unknown) => isText(value) && value.length <= longestKey

const members: Rule = {
  accepts: (value) => value === undefined || isMembers(value),
  message: 'must be an object of texts.',
  mayLack: true,
}

const moveRules: Rules = new Map<string, Rule>([
  ['members', members],
  ['authorizationId', { accepts: isId, message: 'must be the id of an authorization.' }],
  ['transition', { accepts: isFunction, message: 'must be a function.' }],
])

const beginRules: Rules = new Map<string, Rule>([
  ['members', members],
  ['grant', { accepts: isRecord, message: 'must be an object.' }],
])

const grantRules: Rules = new Map<string, Rule>([
  [
    'subject',
    {
      accepts: isSubject,
      message: `${subjectCure} If a look-up found no owner, throw an error; if the client acts for itself, omit the member.`,
      mayLack: true,
    },
  ],
  ['scope', { accepts: isScope, message: scopeCure }],
  ['refreshToken', { accepts: isBoolean, message: 'must be true or false.' }],
  ['extensionData', { accepts: isExtensionData, message: `must be an object, and ${keepableCure}` }],
  ['expiresAt', { accepts: isEnd, message: 'must be whole seconds since the epoch.', mayLack: true }],
  ['oneTimeUse', { accepts: isUse, message: 'must be { key, until, refusal }.', mayLack: true }],
  ['subjectToken', { accepts: isAccess, message: 'must be a result of findAccess().', mayLack: true }],
  ['audience', { accepts: isAudience, message: 'must be a list of texts.', mayLack: true }],
])

const useRules: Rules = new Map<string, Rule>([
  ['key', { accepts: isKey, message: `must be a text of 1 to ${longestKey} characters.` }],
  ['until', { accepts: isWholeSecond, message: 'must be whole seconds since the epoch.' }],
  ['refusal', { accepts: isFunction, message: 'must be a function that makes an OAuth error.' }],
])

function issuesIn(answer: unknown): readonly ConfigurationIssue[] {
  if (!isRecord(answer)) return [{ path: 'handle()', message: 'must return an object.' }]
  if ('transition' in answer) return broken(answer, moveRules, '')
  const { grant } = answer
  const issues = broken(answer, beginRules, '')
  if (!isRecord(grant)) return issues
  issues.push(...broken(grant, grantRules, 'grant.'))
  const use = grant['oneTimeUse']
  if (isRecord(use)) issues.push(...broken(use, useRules, 'grant.oneTimeUse.'))
  return issues
}

function broken(value: Readonly<Record<string, unknown>>, rules: Rules, path: string): ConfigurationIssue[] {
  const issues: ConfigurationIssue[] = []
  for (const [key, { accepts, message, mayLack }] of rules) {
    if (mayLack && !(key in value)) continue
    if (!accepts(value[key])) issues.push({ path: path + key, message })
  }
  for (const key of Object.keys(value))
    if (!rules.has(key))
      issues.push({
        path: path + key,
        message: `is not known here; the known names are ${[...rules.keys()].join(', ')}.`,
      })
  return issues
}
