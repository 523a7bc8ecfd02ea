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
} from '../protocol/configuration'
import { isKeepable, type Json, keepableCure } from '../protocol/extension'
import type { Parameters } from '../protocol/parameters'
import { isSubject, subjectCure } from '../protocol/resource-owner'
import { isScope, type Scope, scopeCure } from '../protocol/scope'
import type { Counters } from '../stores/counters'

/** A token request of an authenticated (or, if public, named) client. */
export interface TokenRequest {
  readonly client: Client
  readonly parameters: Parameters
  readonly context: IssueContext
  /** The scope of a request that names none. */
  readonly defaultScope: Scope
  /** Where the request came from, by the host's `trust proxy`; undefined when the connection is gone. */
  readonly address: string | undefined
  /** Counts failed attempts. What the grant uses up belongs into `oneTimeUse`: the write that creates the tokens uses it up. */
  readonly counters: Counters
  /** Finds an access token of this server; undefined when the token is unknown, expired or revoked. */
  readonly findAccess: (accessToken: string) => Promise<FoundAccess | undefined>
}

/**
 * What a grant type proves. A grant type issues no tokens: one place issues the tokens of all grant types.
 *
 * `transition` moves an existing authorization; `grant` begins one. `members` join the token response (RFC 6749 5.1); the
 * members of the framework win.
 */
export type GrantResult = { readonly members?: Readonly<Record<string, string>> } & (
  | { readonly authorizationId: string; readonly transition: Transition<Issued> }
  | { readonly grant: DirectGrant }
)

/** An authorization to begin. */
export interface DirectGrant extends Omit<DirectAuthorization, 'clientId' | 'tokenType' | 'subject'> {
  /**
   * The resource owner. Left out: the client acts for itself. The member must not be present and undefined, because a
   * look-up that found nobody returns undefined.
   */
  readonly subject?: string
}

/** A grant type (RFC 6749 1.3 and 4.5). */
export interface GrantType {
  /** `grant_type` on the wire: a registered name or, for an extension, an absolute URI. */
  readonly name: string
  /** The parameters that it reads. A repeated one refuses the request. */
  readonly parameters: readonly string[]
  /** Parameters that hold a credential. A request that has one of them in its query is refused (RFC 6749 2.3.1). */
  readonly credentialParameters?: readonly string[]
  /**
   * Proves the grant of a request. Anything but a `GrantResult` is a fault of the server, and gives no token.
   *
   * @throws OAuthError when the request proves nothing.
   */
  handle(request: TokenRequest): Promise<GrantResult>
  /**
   * Members that introspection adds about an authorization which keeps data under the name of this grant type (RFC 7662
   * 2.2); the members of the suite win.
   */
  introspect?(data: Json): Readonly<Record<string, Json>>
}

/** Whether a grant to this client comes with a refresh token. No scope decides this. */
export function mayRefresh(client: Client): boolean {
  return client.grant_types.includes('refresh_token')
}

/**
 * Checks what a grant type returned. Hosts write grant types, and a value from their database may be null, a number or a
 * Buffer.
 *
 * @throws ConfigurationError that names the grant type and every mistake.
 */
export function requireGrantResult(answer: unknown, grantType: string): asserts answer is GrantResult {
  const issues = issuesIn(answer)
  if (issues.length > 0)
    throw new ConfigurationError(`The grant type "${grantType}" returned what gives no token:`, issues)
}

// The store gets a digest of the key. A body brings no longer one.
const longestKey = 65_536

/** What a field must be; `mayLack` for an optional field. */
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
// `issueDirectly` checks that the second is still to come.
const isEnd = (value: unknown) => value === undefined || typeof value === 'number'
const isUse = (value: unknown) => value === undefined || isRecord(value)
const isExtensionData = (value: unknown) =>
  isRecord(value) && (Object.keys(value).length === 0 || isKeepable(value))
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
      message: `${subjectCure} Where a look-up found nobody, refuse; for a client that acts for itself, leave it out.`,
      mayLack: true,
    },
  ],
  ['scope', { accepts: isScope, message: scopeCure }],
  ['refreshToken', { accepts: isBoolean, message: 'must be true or false.' }],
  ['extensionData', { accepts: isExtensionData, message: `must be an object, and ${keepableCure}` }],
  ['expiresAt', { accepts: isEnd, message: 'must be whole seconds since the epoch.', mayLack: true }],
  ['oneTimeUse', { accepts: isUse, message: 'must be { key, until, refusal }.', mayLack: true }],
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
