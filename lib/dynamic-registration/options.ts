import type { Lifetimes } from '../authorization/transition'
import { readAllowedGrantTypes, readAllowedScope } from '../protocol/client-metadata'
import {
  ConfigurationError,
  isBoolean,
  isRecord,
  isText,
  isTexts,
  isWhole,
  OptionsReader,
  tenYears,
} from '../protocol/configuration'
import type { ServerCapabilities } from '../protocol/parse-client'
import { dynamicClientsWithDeadline } from '../stores/deadline'
import { type DynamicClientStore, isDynamicClientStore } from '../stores/dynamic-client-store'
import { memoryDynamicClients } from '../stores/memory-dynamic-clients'
import { hasOneOf } from './bearer-token'
import type { RegistrationPolicy } from './client-metadata'

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
   * everybody, and the option `rateLimit.registration` limits each network.
   */
  readonly initialAccessToken?: string | readonly string[] | VerifyInitialAccessToken
  /**
   * How many registered clients may live at the same time, 1 to 100 000. Beyond, registration responds with 503: no
   * client that lives makes room for another. Default 10 000, of 16 KiB each at most.
   */
  readonly maximumClients?: number
  /** The scope that such clients may have, separated by spaces. A client that names none gets all. Default: all scopes. */
  readonly scope?: string
  /**
   * Registers every client with all of `scope`, whatever scope it names (RFC 7591 2 leaves this to the server). The
   * owner still approves what each request asks for. MCP clients need this for a step-up: they register with the scope
   * of the first challenge, and then ask for more. Default `false`.
   */
  readonly stepUp?: boolean
  /**
   * The grant types that such clients may have, as far as they ask for them. Default: `authorization_code` and
   * `refresh_token`.
   */
  readonly grantTypes?: readonly string[]
  /** How long a client lives that has got no code and no token yet. Default 3600, at least 60. */
  readonly unusedLifetime?: number
  /**
   * How long a client lives after the server has issued a code or token to it. The server notes the use of a client once
   * a day, and a client never ends before its longest refresh token. Default 7 776 000 (90 days), at least 2 days.
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
export interface DynamicRegistration extends RegistrationPolicy {
  readonly issuer: string
  /** Rejects with `temporarily_unavailable` after the deadline of stores. */
  readonly store: DynamicClientStore
  /** Undefined if registration is open. */
  readonly verifyInitialAccessToken: VerifyInitialAccessToken | undefined
  readonly maximumClients: number
  readonly unusedLifetime: number
  /** The lifetime after a use: longer by a day, at least, than every token. */
  readonly lifetime: number
  /** How long an authorization request may take until its client has a code or token. */
  readonly requestLifetime: number
  readonly clientSecretLifetime: number
  readonly registrationPath: string
  readonly clientConfigurationPath: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** The settings of the server that dynamic registration rests on. */
export interface RegistrationGround {
  readonly issuer: string
  readonly capabilities: ServerCapabilities
  readonly resourceOwner: unknown
  readonly store: object
  readonly storeDeadline: number
  readonly lifetimes: Lifetimes
  readonly clock: () => number
}

/** The names of the endpoints, under the keys of their paths. */
export const registrationEndpointNames = {
  registrationPath: 'registration',
  clientConfigurationPath: 'client_configuration',
} as const

export const day = 24 * 3600
const key = 'dynamicRegistration'

/**
 * Reads the option `dynamicRegistration`; undefined if registration is off.
 *
 * @param takePath reads the option of a path, which no other endpoint may have.
 */
export function readDynamicRegistration(
  reading: OptionsReader,
  ground: RegistrationGround,
  takePath: (fields: OptionsReader, key: string, fallback: string) => string,
): DynamicRegistration | undefined {
  const given = reading.take(key)
  if (given === undefined || given === false) return undefined
  if (!isRecord(given)) {
    reading.wrong(key, 'must be false or an object, such as {}.')
    return undefined
  }
  const fields = new OptionsReader(given, reading.at(key), reading.issues)
  const { issuer, capabilities, lifetimes, clock } = ground
  const whole = (name: string, fallback: number, least: number, most = tenYears) =>
    fields.optional(name, fallback, isWhole(least, most), `must be a whole number, ${least} to ${most}.`)
  const lifetime = whole('lifetime', 90 * day, 2 * day)
  const registration: DynamicRegistration = {
    issuer,
    capabilities,
    scope: readAllowedScope(fields, capabilities.scope),
    stepUp: fields.optional('stepUp', false, isBoolean, 'must be true or false.'),
    grantTypes: readGrantTypes(fields, reading, ground),
    store: dynamicClientsWithDeadline(readStore(fields, ground), ground.storeDeadline),
    verifyInitialAccessToken: readInitialAccessToken(fields),
    maximumClients: whole('maximumClients', 10_000, 1, 100_000),
    unusedLifetime: whole('unusedLifetime', 3600, 60),
    // A use is noted once a day, so a token may be a day younger than the last note.
    lifetime: Math.max(lifetime, day + Math.max(lifetimes.refreshToken, lifetimes.accessToken)),
    requestLifetime: lifetimes.authorizationRequest + lifetimes.authorizationCode,
    clientSecretLifetime: whole('clientSecretLifetime', 90 * day, 60),
    registrationPath: takePath(fields, 'registrationPath', '/register'),
    clientConfigurationPath: takePath(fields, 'clientConfigurationPath', '/register/client'),
    clock,
  }
  fields.refuseUnknown()
  return Object.freeze(registration)
}

function readGrantTypes(
  fields: OptionsReader,
  reading: OptionsReader,
  { capabilities, resourceOwner }: RegistrationGround,
): readonly string[] {
  const granted = readAllowedGrantTypes(fields, capabilities)
  if (granted.includes('authorization_code') && resourceOwner === undefined)
    reading.wrong(
      'resourceOwner',
      'is missing: clients that register use the authorization endpoint, so resourceOwner must return who is logged in.',
    )
  return granted
}

const storeCure =
  'must be a store of dynamic clients, with the functions find, add, update, remove and extend.'

function readStore(fields: OptionsReader, { store, clock }: RegistrationGround): DynamicClientStore {
  const given = fields.optional<DynamicClientStore | undefined>(
    'store',
    undefined,
    isDynamicClientStore,
    storeCure,
  )
  if (given !== undefined) return given
  if ('dynamicClients' in store && isDynamicClientStore(store.dynamicClients)) return store.dynamicClients
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

const isTokenOption = (value: unknown): value is string | readonly string[] | VerifyInitialAccessToken =>
  isText(value) || isTexts(value) || typeof value === 'function'
