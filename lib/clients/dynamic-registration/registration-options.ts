import { issuerDigest } from '../../authorization/issuer'
import type { Lifetimes } from '../../authorization/lifetimes'
import type { FindClient } from '../../protocol/client'
import { readAllowedGrantTypes, readAllowedScope } from '../../protocol/client-metadata'
import {
  ConfigurationError,
  isBoolean,
  isRecord,
  isText,
  isTexts,
  isWhole,
  OptionsReader,
  tenYears,
} from '../../primitives/options-reader'
import { digest, isSameText } from '../../protocol/credential'
import type { ServerCapabilities } from '../../protocol/parse-client'
import { dynamicClientsWithDeadline } from '../../stores/deadline'
import {
  type DynamicClientStore,
  dynamicClientsExpectation,
  isDynamicClientStore,
} from '../dynamic-client-store'
import { memoryDynamicClients } from '../../stores/memory-dynamic-clients'
import type { DocumentFetch } from '../document-fetch/document-fetch'
import { ClientUses, day } from './client-uses'
import { type DynamicClients, HostClients } from './find-dynamic-clients'
import type { Storage } from '../../stores/storage'

/** The option `dynamicRegistration`. Lifetimes are whole seconds, at most 10 years. */
export interface DynamicRegistrationOptions {
  /**
   * Keeps the clients that register. Default: the `dynamicClients` of the option `store`, which `redisStore()` has; for
   * a store without them `memoryDynamicClients()`, which refuses to run in production.
   */
  readonly store?: DynamicClientStore
  /**
   * Who may register (RFC 7591 3): the digests of initial access tokens, each the `client_secret_hash` of
   * `generateClientSecret()`, or a function that resolves to whether a token is good. Default: registration is open to
   * everybody, and the option `limits.networks.registration` limits each network.
   */
  readonly initialAccessToken?: string | readonly string[] | VerifyInitialAccessToken
  /**
   * How many registered clients may live at the same time, 1 to 100 000. Beyond, an unused client of the network that
   * has most of them gives way. No client gives way within ten minutes of its registration, with an open authorization
   * request, or with a code or token. If none is left, registration responds with 503. Default 10 000, of 16 KiB each at
   * most.
   */
  readonly maximumClients?: number
  /** The scope that such clients may have, separated by spaces. A client that names none gets all. Default: all scopes. */
  readonly scope?: string
  /**
   * Registers every client with all of `scope`, whatever scope it names (RFC 7591 2 leaves this to the server). The
   * owner still approves what each request asks for. MCP clients need this for a step-up: they register with the scope
   * of the first challenge, and then ask for more. Default `false`.
   */
  readonly registerAllScopes?: boolean
  /**
   * The grant types that such clients may have, as far as they ask for them. Default: `authorization_code` and
   * `refresh_token`.
   */
  readonly grantTypes?: readonly string[]
  /** How long a client lives that has got no code and no token yet. Default 3600, at least 60. */
  readonly unusedLifetime?: number
  /**
   * How long a client lives after the server has issued a code or token to it. Each process notes the use of a client
   * once a day, so the lifetime is two days longer than the longest token at least. Default 7 776 000 (90 days), at least 2 days.
   */
  readonly lifetime?: number
  /**
   * How long a client secret is valid. A confidential client gets a new secret when it updates its registration in the
   * last half of this time (RFC 7592 2.2). Default 7 776 000 (90 days), at least 60.
   */
  readonly clientSecretLifetime?: number
  /** Path of the registration endpoint below the issuer. Default `/register`. */
  readonly registrationPath?: string
  /** Path of the client configuration endpoint (RFC 7592) below the issuer. Default `/register/client`. */
  readonly clientConfigurationPath?: string
}

/** Resolves to whether an initial access token is good. */
export type VerifyInitialAccessToken = (token: string) => boolean | Promise<boolean>

/** Dynamic registration after validation of its options. */
export interface DynamicRegistration extends DynamicClients {
  /** Undefined if registration is open. */
  readonly verifyInitialAccessToken: VerifyInitialAccessToken | undefined
  readonly maximumClients: number
  readonly unusedLifetime: number
  /** How long a code, a token or an authorization request lives at most. */
  readonly tokenLifetime: number
  readonly clientSecretLifetime: number
  readonly registrationPath: string
  readonly clientConfigurationPath: string
  /** Fetches the documents that clients name. */
  readonly documents: DocumentFetch
}

/** The settings of the server that dynamic registration rests on. */
interface RegistrationContext {
  readonly issuer: string
  readonly findClient: FindClient
  readonly capabilities: ServerCapabilities
  readonly clientDocuments: DocumentFetch
  readonly resourceOwner: unknown
  readonly store: Storage
  readonly storeDeadline: number
  readonly lifetimes: Lifetimes
  readonly clock: () => number
}

/** The names of the endpoints, under the keys of their paths. */
export const registrationEndpointNames = {
  registrationPath: 'registration',
  clientConfigurationPath: 'client_configuration',
} as const

const key = 'dynamicRegistration'

/**
 * Reads the option `dynamicRegistration`; undefined if registration is off.
 *
 * @param takePath reads the option of a path, which no other endpoint may have.
 */
export function readDynamicRegistration(
  reading: OptionsReader,
  context: RegistrationContext,
  takePath: (fields: OptionsReader, key: string, fallback: string) => string,
): DynamicRegistration | undefined {
  const given = reading.take(key)
  if (given === undefined || given === false) return undefined
  if (!isRecord(given)) {
    reading.wrong(key, 'must be false or an object, such as {}.')
    return undefined
  }
  const fields = new OptionsReader(given, reading.at(key), reading.issues)
  const { issuer, capabilities, lifetimes, clock } = context
  const whole = (name: string, fallback: number, least: number, most = tenYears) =>
    fields.optional(name, fallback, isWhole(least, most), `must be a whole number, ${least} to ${most}.`)
  const lifetime = whole('lifetime', 90 * day, 2 * day)
  const requestLifetime = lifetimes.authorizationRequest + lifetimes.authorizationCode
  const tokenLifetime = Math.max(lifetimes.refreshToken, lifetimes.accessToken, requestLifetime)
  const store = dynamicClientsWithDeadline(readStore(fields, context), context.storeDeadline)
  const uses = new ClientUses({
    store,
    // A process notes a use once a day, and the store writes no second note within a day of the first. So a token may be
    // two days younger than the last note that the store has written.
    lifetime: Math.max(lifetime, 2 * day + tokenLifetime),
    requestLifetime,
    clock,
  })
  const registration: DynamicRegistration = {
    issuer,
    issuerDigest: issuerDigest(issuer),
    hostClients: new HostClients(context.findClient, clock),
    capabilities,
    scope: readAllowedScope(fields, capabilities.scope),
    registerAllScopes: fields.optional('registerAllScopes', false, isBoolean, 'must be true or false.'),
    grantTypes: readGrantTypes(fields, reading, context),
    store,
    verifyInitialAccessToken: readInitialAccessToken(fields),
    maximumClients: whole('maximumClients', 10_000, 1, 100_000),
    unusedLifetime: whole('unusedLifetime', 3600, 60),
    tokenLifetime,
    uses,
    clientSecretLifetime: whole('clientSecretLifetime', 90 * day, 60),
    registrationPath: takePath(fields, 'registrationPath', '/register'),
    clientConfigurationPath: takePath(fields, 'clientConfigurationPath', '/register/client'),
    documents: context.clientDocuments,
    clock,
  }
  fields.refuseUnknown()
  return Object.freeze(registration)
}

function readGrantTypes(
  fields: OptionsReader,
  reading: OptionsReader,
  { capabilities, resourceOwner }: RegistrationContext,
): readonly string[] {
  const granted = readAllowedGrantTypes(fields, capabilities)
  if (granted.includes('authorization_code') && resourceOwner === undefined)
    reading.wrong(
      'resourceOwner',
      'is missing: clients that register use the authorization endpoint, so resourceOwner must return who is logged in.',
    )
  return granted
}

function readStore(fields: OptionsReader, { store, clock }: RegistrationContext): DynamicClientStore {
  const given = fields.optional<DynamicClientStore | undefined>(
    'store',
    undefined,
    isDynamicClientStore,
    dynamicClientsExpectation,
  )
  if (given !== undefined) return given
  if (store.dynamicClients !== undefined) return store.dynamicClients
  try {
    return memoryDynamicClients({ clock })
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    fields.issues.push(...error.issues)
    return memoryDynamicClients({ clock, allowInProduction: true })
  }
}

const digestForm = /^sha256:([A-Za-z0-9_-]{43})$/

function readInitialAccessToken(fields: OptionsReader): VerifyInitialAccessToken | undefined {
  const name = 'initialAccessToken'
  const cure =
    'must hold digests, never tokens: give the client_secret_hash of generateClientSecret(), a list of them, or a function.'
  const given = fields.optional<string | readonly string[] | VerifyInitialAccessToken | undefined>(
    name,
    undefined,
    isTokenOption,
    cure,
  )
  if (given === undefined || typeof given === 'function') return given
  const listed = typeof given === 'string' ? [given] : given
  const digests = listed.flatMap((each) => digestForm.exec(each)?.[1] ?? [])
  if (digests.length < listed.length || digests.length === 0) fields.wrong(name, cure)
  return (token) => hasOneOf(digests, token)
}

/** Whether one of the digests is the digest of the token. Compares in constant time, and compares all of them. */
function hasOneOf(digests: readonly string[], token: string): boolean {
  const presented = digest(token)
  return digests.filter((each) => isSameText(each, presented)).length > 0
}

const isTokenOption = (value: unknown): value is string | readonly string[] | VerifyInitialAccessToken =>
  isText(value) || isTexts(value) || typeof value === 'function'
