import { type AuthorizationIndex, isAuthorizationIndex } from '../authorization/authorization-index'
import { type ConsentStore, isConsentStore } from '../authorization/consent-store'
import type { AuthorizationStore } from '../authorization/store'
import { type ClientRegistry, isClientRegistry } from './client-store'
import {
  type DynamicClientStore,
  dynamicClientsExpectation,
  isDynamicClientStore,
} from './dynamic-client-store'
import { isKeyStore, type KeyStore } from './key-store'
import { isSharedCache, type SharedCache } from './shared-cache'
import { type Counters, countersExpectation, isCounters } from '../limits/counters'
import { aCall, aTextThat, someCalls } from '../primitives/fields'
import { type Field, kind, needed, optional, shape } from '../primitives/schema'
import { isRecord } from '../primitives/values'

/** A store of authorizations and of all that its database stores besides, for the option `store`. */
export interface Storage extends AuthorizationStore {
  /** Counts failed attempts and single uses, unless the option `counters` does. */
  readonly counters?: Counters | undefined
  /** Registered clients, used only if the option `clients` gives them. */
  readonly clients?: ClientRegistry | undefined
  /** Clients that registered themselves, unless the option `dynamicRegistration` gives a store. */
  readonly dynamicClients?: DynamicClientStore | undefined
  /** Documents of other servers, for all processes. */
  readonly sharedCache?: SharedCache | undefined
  /** Sealed signing keys that the processes of an issuer share, for `signingKeys({ secrets })`. */
  readonly keys?: KeyStore | undefined
  /** Lists the authorizations of each resource owner, and marks clients. */
  readonly index?: AuthorizationIndex | undefined
  /** What resource owners have allowed clients, for the option `rememberConsent`. */
  readonly consents?: ConsentStore | undefined
  /** For messages, such as `Redis at localhost:6379`. Never a password. */
  readonly place?: string | undefined
  /**
   * Checks the surroundings of the store: one warning for each problem. The first server or guard calls it in
   * the background, and again with growing pauses while it rejects.
   *
   * @param issuer of this server or guard.
   */
  readonly check?: ((issuer: string) => Promise<readonly StoreWarning[]>) | undefined
  /** The last server or guard of the process that uses the store calls it, and waits for it. */
  readonly close?: (() => unknown) | undefined
}

/** A problem around a store, such as a setting of its database. */
export interface StoreWarning {
  /** A code of `docs/warnings.md`. */
  readonly code: string
  /** The problem and its cure. */
  readonly message: string
}

const verbs = kind(
  (value) => isRecord(value) && ['find', 'save', 'remove'].every((verb) => typeof value[verb] === 'function'),
  'must have the functions find, save and remove, as redisStore({ url }) and memoryStore() have.',
)

const whole = shape<Storage>(
  {
    find: aCall(),
    save: aCall(),
    remove: aCall(),
    ...someCalls('getCached', 'confirmAbsent', 'check', 'close'),
    counters: optional(kind(isCounters, countersExpectation)),
    clients: optional(
      kind(
        isClientRegistry,
        'must have the functions find, add, update and list, as redisStore({ url }).clients has.',
      ),
    ),
    dynamicClients: optional(kind(isDynamicClientStore, dynamicClientsExpectation)),
    sharedCache: optional(
      kind(isSharedCache, 'must have the functions get and set, as redisStore({ url }).sharedCache has.'),
    ),
    keys: optional(
      kind(isKeyStore, 'must have the functions find and save, as redisStore({ url }).keys has.'),
    ),
    index: optional(
      kind(
        isAuthorizationIndex,
        'must have the functions add, list, remove, mark, revokeClient and revokedBefore, as redisStore({ url }).index has.',
      ),
    ),
    consents: optional(
      kind(
        isConsentStore,
        'must have the functions find, remember and forget, as redisStore({ url }).consents has.',
      ),
    ),
    place: optional(
      aTextThat('must be a text that names the store in messages, such as Redis at localhost:6379.'),
    ),
  },
  'ignored',
)

const reject = () => Promise.reject(new Error('There is no store.'))

export const noStorage: Storage = { find: reject, save: reject, remove: reject }

export const aStorage: Field<Storage> = needed(noStorage, (given, at, name) =>
  verbs(given, at, name) === undefined ? undefined : whole(given, at, name),
)
