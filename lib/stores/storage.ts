import { type AuthorizationIndex, isAuthorizationIndex } from '../authorization/authorization-index'
import { type ConsentStore, isConsentStore } from '../authorization/consent-store'
import { type ClientRegistry, isClientRegistry } from './client-store'
import {
  type DynamicClientStore,
  dynamicClientsExpectation,
  isDynamicClientStore,
} from './dynamic-client-store'
import type { Store } from './store'
import { aCall, aTextThat, someCalls } from '../primitives/fields'
import { type Field, kind, needed, optional, shape } from '../primitives/schema'
import { isRecord } from '../primitives/values'

/** A {@link Store}, and what its database stores besides. */
export interface Storage extends Store {
  /** Registered clients, used only if the option `clients` gives them. */
  readonly clients?: ClientRegistry | undefined
  /** Clients that registered themselves, unless the option `dynamicRegistration` gives a store. */
  readonly dynamicClients?: DynamicClientStore | undefined
  /** Lists the authorizations of each resource owner, and marks clients. */
  readonly index?: AuthorizationIndex | undefined
  /** What resource owners have allowed clients, for the option `rememberConsent`. */
  readonly consents?: ConsentStore | undefined
}

const verbs = ['read', 'write', 'remove', 'add', 'list']

export const isStore = (value: unknown): value is Store =>
  isRecord(value) && verbs.every((verb) => typeof value[verb] === 'function')

const withVerbs = kind(
  isStore,
  'must have the functions read, write, remove, add and list, as redisStore({ url }) and memoryStore() have.',
)

const whole = shape<Storage>(
  {
    read: aCall(),
    write: aCall(),
    remove: aCall(),
    add: aCall(),
    list: aCall(),
    ...someCalls('peek', 'confirmAbsent', 'check', 'close', 'obstacle'),
    clients: optional(
      kind(
        isClientRegistry,
        'must have the functions find, add, update and list, as redisStore({ url }).clients has.',
      ),
    ),
    dynamicClients: optional(kind(isDynamicClientStore, dynamicClientsExpectation)),
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

export const noStorage: Storage = { read: reject, write: reject, remove: reject, add: reject, list: reject }

export const aStorage: Field<Storage> = needed(noStorage, (given, at, name) =>
  withVerbs(given, at, name) === undefined ? undefined : whole(given, at, name),
)
