import { type Field, type Fields, group, kind, optional, orOff, type Place } from '../../primitives/schema'
import { aFlag, aNumber } from '../../primitives/fields'
import type { Authorization } from '../../authorization/authorization'
import { issuerDigest } from '../../authorization/issuer'
import type { Lifetimes } from '../../authorization/lifetimes'
import { ConfigurationError } from '../../primitives/configuration-error'
import type { Client, FindClient } from '../../protocol/client'
import { secondsOf } from '../../primitives/clock'
import { isText, isTexts, tenYears } from '../../primitives/values'
import { digest, isSameText } from '../../protocol/credential'
import {
  allowedGrantTypes,
  allowedScope,
  parseStoredClient,
  type ServerCapabilities,
} from '../../protocol/parse-client'
import { covers, formatScope, parseScope, type Scope } from '../../protocol/scope'
import { clientLookUps, ParsedRegistrations } from '../../stores/clients'
import type { DocumentFetch } from '../document-fetch/document-fetch'
import { day, type DynamicClient, DynamicClientRecords, isDynamicClientId } from './dynamic-clients'
import type { Store } from '../../store/store'

/** The option `dynamicRegistration`. Lifetimes are whole seconds, at most 10 years. */
export interface DynamicRegistrationOptions {
  /**
   * Who may register (RFC 7591 3): digests of initial access tokens, each a `client_secret_hash` of
   * `generateClientSecret()`, or a function. Default: everybody, limited by `limits.networks.registration`.
   */
  readonly initialAccessToken?: string | readonly string[] | VerifyInitialAccessToken
  /**
   * The most new and prolonged clients within `unusedLifetime`, 1 to 100 000, each of at most 16 KiB: about twice as
   * many are unused at most. Beyond, registration responds with 503. Clients that owners have approved do not count.
   * Default 10 000.
   */
  readonly maximumClients?: number
  /**
   * The scope that such clients may have, separated by spaces; a client that names none gets all. Default: all scopes.
   */
  readonly scope?: string
  /**
   * Registers every client with all of `scope` (RFC 7591 2). The owner still approves each request. MCP clients need it
   * for a step-up: they register with the scope of the first challenge, then ask for more. Default `false`.
   */
  readonly registerAllScopes?: boolean
  /** The grant types that such clients may ask for. Default: `authorization_code` and `refresh_token`. */
  readonly grantTypes?: readonly string[]
  /**
   * The lifetime of a client without a code or token so far. In its second half, another registration begins it again.
   * Default 3600, at least 60.
   */
  readonly unusedLifetime?: number
  /**
   * The lifetime of a client after a code or token; at least two days longer than the longest token. Default 7 776 000
   * (90 days), at least 2 days.
   */
  readonly lifetime?: number
  /**
   * The lifetime of a client secret. An update in its last half issues a new one (RFC 7592 2.2). Default 7 776 000 (90
   * days), at least 60.
   */
  readonly clientSecretLifetime?: number
  /** The registration endpoint below the issuer. Default `/register`. */
  readonly registrationPath?: string
  /** The client configuration endpoint (RFC 7592) below the issuer. Default `/register/client`. */
  readonly clientConfigurationPath?: string
}

/** Resolves to whether an initial access token is good. */
export type VerifyInitialAccessToken = (token: string) => boolean | Promise<boolean>

export type DynamicRegistration = NonNullable<ReturnType<ReturnType<typeof dynamicRegistrationOption>>>

interface RegistrationContext {
  readonly issuer: string
  readonly findClient: FindClient
  readonly capabilities: ServerCapabilities
  readonly clientDocuments: DocumentFetch
  readonly resourceOwner: unknown
  readonly store: Store
  readonly lifetimes: Lifetimes
  readonly clock: () => number
}

export const registrationName = 'registration'
export const clientConfigurationName = 'client_configuration'

export const dynamicRegistrationOption =
  (context: RegistrationContext, pathOf: (endpoint: string, fallback: string) => Field<string>) =>
  (given: unknown, at: Place, name: string) => {
    const { issuer, capabilities, lifetimes, clock } = context
    const paths = {
      registrationPath: pathOf(registrationName, '/register'),
      clientConfigurationPath: pathOf(clientConfigurationName, '/register/client'),
    }
    const option = group({ ...fields, ...paths }, { undefinedMembers: 'refused' })
    const read = optional(orOff(undefined, option))(given, at.with(capabilities), name)
    if (read === undefined) return undefined
    const { lifetime, initialAccessToken, ...others } = read
    if (others.grantTypes.includes('authorization_code') && context.resourceOwner === undefined)
      at.wrong(
        'resourceOwner',
        'is missing: clients that register use the authorization endpoint, so resourceOwner must return who is logged in.',
      )
    const requestLifetime = lifetimes.authorizationRequest + lifetimes.authorizationCode
    const tokenLifetime = Math.max(lifetimes.refreshToken, lifetimes.accessToken, requestLifetime)
    const ownDigest = issuerDigest(issuer)
    const now = secondsOf(clock)
    const records = new DynamicClientRecords(context.store, now, ownDigest)
    const uses = { lifetime: Math.max(lifetime, 2 * day + tokenLifetime), requestLifetime }
    return Object.freeze({
      ...others,
      issuer,
      issuerDigest: ownDigest,
      findHostClient: context.findClient,
      capabilities,
      records,
      verifyInitialAccessToken: initialAccessToken,
      tokenLifetime,
      noteUse: (authorization: Authorization) => records.note(authorization, uses),
      left: (clientId: string, owner: string) => records.leave(clientId, owner, others.unusedLifetime),
      documents: context.clientDocuments,
      now,
    })
  }

const digestForm = /^sha256:([A-Za-z0-9_-]{43})$/

const tokenExpectation =
  'must hold digests, never tokens: give the client_secret_hash of generateClientSecret(), a list of them, or a function.'

const tokenVerifier: Field<VerifyInitialAccessToken | undefined> = (given, at, name) => {
  const read = optional(kind(isTokenOption, tokenExpectation))(given, at, name)
  if (read === undefined || typeof read === 'function') return read
  const listed = typeof read === 'string' ? [read] : read
  const digests = listed.flatMap((each) => digestForm.exec(each)?.[1] ?? [])
  if (digests.length < listed.length || digests.length === 0) at.wrong(name, tokenExpectation)
  // Constant time: compares all digests.
  return (token) => digests.filter((each) => isSameText(each, digest(token))).length > 0
}

const isTokenOption = (value: unknown): value is string | readonly string[] | VerifyInitialAccessToken =>
  isText(value) || isTexts(value) || typeof value === 'function'

export const fields = {
  initialAccessToken: tokenVerifier,
  maximumClients: aNumber(10_000, 1, 100_000),
  scope: allowedScope,
  registerAllScopes: aFlag(false),
  grantTypes: allowedGrantTypes,
  unusedLifetime: aNumber(3600, 60, tenYears),
  lifetime: aNumber(90 * day, 2 * day, tenYears),
  clientSecretLifetime: aNumber(90 * day, 60, tenYears),
} satisfies Fields<
  Omit<DynamicRegistrationOptions, 'registrationPath' | 'clientConfigurationPath'>,
  ServerCapabilities
>

// A registration must not hide the scope or `disabled` of the host's client.
export function withDynamicClients(registration: DynamicRegistration): FindClient {
  const { findHostClient, records, capabilities, scope, now } = registration
  const parsed = new ParsedRegistrations((source) => {
    const client = parseStoredClient(withinScope(source, scope), capabilities)
    return Object.freeze({ ...client, ...withoutPages, selfRegistered: true as const })
  })
  const find = async (clientId: string) => {
    // In one turn: a store may answer both reads together.
    const [ofHost, found] = await Promise.all([findHostClient(clientId), records.find(clientId)])
    if (ofHost !== undefined || found === undefined) return ofHost
    return withLiveSecrets(clientOf(found, parsed), found, now())
  }
  const lookUps = clientLookUps()
  return (clientId, sender) =>
    isDynamicClientId(clientId)
      ? lookUps.share(clientId, () => find(clientId))
      : findHostClient(clientId, sender)
}

// A logo or a link would lend the name of any host to the client.
const withoutPages = {
  client_uri: undefined,
  logo_uri: undefined,
  policy_uri: undefined,
  tos_uri: undefined,
} satisfies Partial<Client>

// The host may have narrowed what such clients get: one that cannot work counts as ended.
function clientOf({ registration }: DynamicClient, parsed: ParsedRegistrations): Client | undefined {
  try {
    return parsed.clientOf(registration)
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined
    throw error
  }
}

function withinScope(registration: object, allowed: Scope): object {
  const scope =
    'scope' in registration && isText(registration.scope) ? parseScope(registration.scope) : undefined
  if (scope === undefined || covers(allowed, scope)) return registration
  return { ...registration, scope: formatScope(scope.filter((token) => allowed.includes(token))) }
}

// RFC 7591 3.2.1
function withLiveSecrets(
  client: Client | undefined,
  { secretExpiries }: DynamicClient,
  now: number,
): Client | undefined {
  if (client === undefined || secretExpiries.every((end) => end > now)) return client
  const client_secret_hashes = client.client_secret_hashes.filter((_, at) => (secretExpiries[at] ?? 0) > now)
  return Object.freeze({ ...client, client_secret_hashes })
}
