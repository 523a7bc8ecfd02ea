import { begin, commit } from '../authorization/commit'
import { issueEvent } from '../authorization/transition-event'
import { type Issued, issueDirectly } from '../authorization/issue'
import { findAccess, type FoundAccess } from '../authorization/lookup'
import { idOfUse } from '../authorization/one-time-use'
import type { IssueContext, OnCommitted } from '../authorization/transition'
import type { Client } from '../protocol/client'
import {
  ConfigurationError,
  type ConfigurationIssue,
  isBoolean,
  isRecord,
  isText,
} from '../protocol/configuration'
import { isKeepable, keepableCure } from '../protocol/extension'
import { unauthorizedClient, unsupportedGrantType } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { isSubject, subjectCure } from '../protocol/resource-owner'
import { distinct, isScope, type Scope, scopeCure } from '../protocol/scope'
import { countersOfClient, type IssueLimits } from '../rate-limit/issue-limits'
import type { AuthorizationStore } from '../stores/authorization-store'
import type { Counters } from '../stores/counters'
import type { WriteBackCache } from '../stores/recently-written'
import { tokenResponse, type TokenResponse } from '../token-types/bearer'
import type { DirectGrant, GrantResult, GrantType, TokenRequest } from './grant-type'

/** What the token endpoint works with. */
export interface TokenEndpoint {
  /** One-time uses belong to it. */
  readonly issuer: string
  readonly grantTypes: ReadonlyMap<string, GrantType>
  readonly defaultScope: Scope
  /** The token type of a client that names none. */
  readonly tokenType: string
  readonly store: AuthorizationStore
  readonly takeCached: WriteBackCache['takeCached']
  readonly counters: Counters
  readonly issueLimits: Pick<IssueLimits, 'requireRoom'>
  readonly issueContext: () => IssueContext
}

/** A token request of an authenticated client, before its grant type is known. */
export interface ExchangeRequest {
  readonly client: Client
  readonly parameters: Parameters
  /** Where it came from; undefined when the connection is gone. */
  readonly address: () => string | undefined
  readonly onCommitted?: OnCommitted
}

/**
 * Exchanges a grant for tokens (RFC 6749 3.2): the grant type proves, and the tokens come into being in one write.
 *
 * @throws OAuthError every refusal of RFC 6749 5.2.
 */
export async function exchange(
  endpoint: TokenEndpoint,
  { client, parameters, address, onCommitted }: ExchangeRequest,
): Promise<TokenResponse> {
  const { grantTypes } = endpoint
  const grantType = grantTypes.get(parameters.require('grant_type'))
  if (grantType === undefined)
    throw unsupportedGrantType('grant_type_unknown', 'The grant type is not supported.')
  if (!client.grant_types.includes(grantType.name))
    throw unauthorizedClient('grant_type_not_registered', 'The client may not use this grant type.')
  parameters.check(grantType.parameters)
  endpoint.issueLimits.requireRoom(client.client_id)
  const context = endpoint.issueContext()
  const request = new RequestOfClient(endpoint, client, parameters, context, address)
  const proof: unknown = await grantType.handle(request)
  requireProof(proof, grantType.name)
  const issued =
    'transition' in proof
      ? await move(endpoint, proof, context, onCommitted)
      : await beginWith(endpoint, client, grantType.name, proof.grant, context, onCommitted)
  const response = tokenResponse(issued, context.now)
  return proof.members === undefined ? response : { ...proof.members, ...response }
}

// A class: of an object with a getter of its own, V8 makes a new hidden class for each, which holds its request for long.
class RequestOfClient implements TokenRequest {
  readonly defaultScope: Scope

  constructor(
    private readonly endpoint: TokenEndpoint,
    readonly client: Client,
    readonly parameters: Parameters,
    readonly context: IssueContext,
    private readonly addressOf: () => string | undefined,
  ) {
    this.defaultScope = endpoint.defaultScope
  }

  get counters(): Counters {
    return countersOfClient(this.endpoint.counters, this.client.client_id)
  }

  get address(): string | undefined {
    return this.addressOf()
  }

  get findAccess() {
    return (accessToken: string): Promise<FoundAccess | undefined> =>
      findAccess(this.endpoint.store, accessToken, this.context.now)
  }
}

function move(
  { store, takeCached }: TokenEndpoint,
  { authorizationId: id, transition }: Extract<GrantResult, { readonly transition: unknown }>,
  { random }: IssueContext,
  onCommitted: OnCommitted | undefined,
): Promise<Issued> {
  return commit(store, id, transition, random, takeCached(id), onCommitted)
}

/** Begins an authorization of a client with tokens at once. */
export async function beginWith(
  { issuer, store, tokenType }: TokenEndpoint,
  client: Client,
  grantType: string,
  { subject, scope, refreshToken, extensionData, expiresAt, oneTimeUse }: DirectGrant,
  context: IssueContext,
  onCommitted?: OnCommitted,
): Promise<Issued> {
  const { client_id: clientId, token_type = tokenType } = client
  const grant = {
    clientId,
    tokenType: token_type,
    subject,
    scope: distinct(scope),
    refreshToken,
    extensionData,
    expiresAt,
    oneTimeUse,
  }
  const id = oneTimeUse && idOfUse([issuer, grantType, oneTimeUse.key])
  const { authorization, issued } = issueDirectly(grant, context, id)
  await begin(store, authorization, context.random, oneTimeUse?.refusal)
  onCommitted?.({ authorization, event: issueEvent('issued', authorization.accessTokens.at(-1)) })
  return issued
}

/**
 * Checks what a grant type returned: it is often a host's, and what it read from a database may be null, a number or a
 * Buffer. Nothing but what it promises becomes a record.
 *
 * @throws ConfigurationError that names the grant type and every mistake.
 */
export function requireProof(answer: unknown, grantType: string): asserts answer is GrantResult {
  const issues = issuesIn(answer)
  if (issues.length > 0)
    throw new ConfigurationError(`The grant type "${grantType}" returned what gives no token:`, issues)
}

// A digest of it is stored, and a body brings no more.
const longestKey = 65_536

/** What a field must be; `mayLack` where it need not be there. */
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
// Whether it is a second to come is seen where the authorization begins.
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
