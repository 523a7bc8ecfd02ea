import { secondsOf } from '../../primitives/clock'
import { ConfigurationError } from '../../primitives/configuration-error'
import { aClock, aListOf, aTextThat, someSeconds } from '../../primitives/fields'
import {
  type Field,
  type Fields,
  kind,
  needed,
  optional,
  type Place,
  readOptions,
  usual,
} from '../../primitives/schema'
import { isList, isRecord, isText } from '../../primitives/values'
import type { Plugin, PluginServer } from '../../doors/plug-in'
import type { Endpoint } from '../../protocol/endpoint'
import { isStore, noStore, type Store } from '../../store/store'
import { leadTime, publishedFor } from './key-record'
import { givenRing, type KeyRing, sharedRing } from './key-ring'
import { type ListedKey, SharedKeys } from './shared-keys'
import {
  type GivenKey,
  givenSigningKeys,
  isSigningAlgorithm,
  type SigningAlgorithm,
  signingAlgorithms,
} from './signing-key'

/** Options of {@link signingKeys}: either `secrets` or `keys`. */
export type SigningKeysOptions = SharedKeysOptions | GivenKeysOptions

/** The server makes, shares and replaces its keys. */
export interface SharedKeysOptions {
  /**
   * Seal the keys in the store: at least 32 characters each, such as `openssl rand -base64 32` gives. The
   * first one seals new keys, each opens keys. To change the secret, give all processes `[old, new]`, then
   * `[new, old]`. Remove the old one only when `keys list` shows no key under it.
   */
  readonly secrets: readonly string[]
  /** One key for each, the usual one first. Default `['ES256']`. */
  readonly algorithms?: readonly SigningAlgorithm[]
  /**
   * Whole seconds from the first signature of a key until its successor is made, at least 3600. Default 90
   * days.
   */
  readonly rotateAfter?: number
  /**
   * Whole seconds, 900 to 30 days, for which a successor is published before it signs, for caches elsewhere.
   * Default 900.
   */
  readonly publishBefore?: number
  readonly keys?: undefined
}

/** The host makes and replaces the keys. */
export interface GivenKeysOptions {
  /**
   * The first key of each algorithm signs; all are published. To replace a key, append the new one, put it
   * first an hour later, and remove the old one when its last token has expired.
   */
  readonly keys: readonly GivenKey[]
  readonly secrets?: undefined
  readonly algorithms?: undefined
  readonly rotateAfter?: undefined
  readonly publishBefore?: undefined
}

/** The signing keys of a server. Plug-ins that sign follow it in the option `plugins`. */
export interface SigningKeys extends Plugin {
  /**
   * The keys of one server, for `open()` of a plug-in.
   *
   * @throws Error unless this object stands before that plug-in.
   */
  ringOf(server: PluginServer): KeyRing
}

/**
 * Signing keys, with their public halves at `/.well-known/jwks.json` (RFC 7517 5). The store holds keys only
 * sealed: a dump of it signs nothing, and who can write it cannot add a key.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function signingKeys(options: SigningKeysOptions): SigningKeys {
  const {
    keys = [],
    secrets,
    ...plan
  } = readOptions('signingKeys()', fields, options, {
    check: checkChoice,
  })
  const rings = new WeakMap<PluginServer, KeyRing>()
  return {
    name: 'signing-keys',
    open(server) {
      const { issuer, storage, now } = server
      const ring =
        secrets === undefined
          ? givenRing(keys)
          : sharedRing(new SharedKeys(storage, { issuer, ...plan, secrets }), plan.algorithms, now)
      rings.set(server, ring)
      return { endpoints: [publishedKeys(server.urlOf, ring)], ready: () => ring.published() }
    },
    ringOf(server) {
      const ring = rings.get(server)
      if (ring !== undefined) return ring
      throw new Error('needs its signingKeys() before it in plugins: plugins: [keys, other({ keys })].')
    },
  }
}

const path = '/.well-known/jwks.json'

function publishedKeys(urlOf: PluginServer['urlOf'], ring: KeyRing): Endpoint {
  return {
    name: 'jwks',
    path,
    method: 'GET',
    clientAuthentication: 'none',
    listed: false,
    cors: true,
    // Guards of other servers need the keys.
    duringMaintenance: true,
    metadata: { jwks_uri: urlOf(path) },
    handle: async () => ({
      members: { keys: await ring.published() },
      headers: {
        'Content-Type': 'application/jwk-set+json; charset=utf-8',
        'Cache-Control': `public, max-age=${publishedFor}`,
      },
    }),
  }
}

const day = 24 * 3600
const shortestSecret = 32
const most = 3650 * day

const sharedSecrets = aListOf(
  (secret): secret is string => isText(secret) && secret.length >= shortestSecret,
  `must be a list of texts of at least ${shortestSecret} characters, such as the output of openssl rand -base64 32.`,
)

const fields = {
  secrets: optional(sharedSecrets),
  algorithms: usual<readonly SigningAlgorithm[]>(
    ['ES256'],
    kind(
      (value): value is readonly SigningAlgorithm[] =>
        isList(value) &&
        value.length > 0 &&
        value.every(isSigningAlgorithm) &&
        new Set(value).size === value.length,
      `must be a list of ${signingAlgorithms.join(', ')}, each once.`,
    ),
  ),
  rotateAfter: someSeconds(90 * day, 3600, most),
  publishBefore: someSeconds(leadTime, leadTime, 30 * day),
  keys: optional(givenSigningKeys),
} satisfies Fields<SharedKeysOptions | GivenKeysOptions>

function checkChoice(_read: unknown, at: Place): void {
  at.requireOne('secrets', 'keys')
  if (at.source['keys'] === undefined) return
  for (const key of ['algorithms', 'rotateAfter', 'publishBefore'])
    if (at.source[key] !== undefined) at.wrong(key, 'belongs to secrets, and keys are given.')
}

const isSigningKeys = (value: unknown): value is SigningKeys =>
  isRecord(value) && typeof value['ringOf'] === 'function'

const neverOpened = () => {
  throw new Error('There are no signing keys.')
}
const noKeys: SigningKeys = { name: 'none', open: neverOpened, ringOf: neverOpened }

export const keysOf = (cure: string): Field<SigningKeys> =>
  needed(noKeys, kind(isSigningKeys, `must be ${cure}.`))

export type { ListedKey }

/** Options of {@link manageSigningKeys}. */
export interface KeyManagementOptions {
  /** The option `issuer` of the server. */
  readonly issuer: string
  /** The store of the server, with the same prefix. */
  readonly store: Store
  /** The option `secrets` of `signingKeys()`. */
  readonly secrets: readonly string[]
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number
}

export interface KeyManagement {
  list(): Promise<readonly ListedKey[]>
  /**
   * Makes a successor for each key that signs, unless one waits. It signs in 15 minutes, or later by the
   * option `publishBefore` of the server.
   */
  rotate(): Promise<readonly ListedKey[]>
  /**
   * Retires a leaked key. Its successor signs at once. Every process stops using and publishing it within 10
   * seconds, or within a minute while the store fails; caches elsewhere after 10 minutes by the rules.
   *
   * @throws ConfigurationError if no such key is there.
   */
  retire(kid: string): Promise<readonly ListedKey[]>
}

/**
 * Manages the keys of `signingKeys({ secrets })` outside the server.
 *
 * @throws ConfigurationError that lists every mistake.
 */
export function manageSigningKeys(options: KeyManagementOptions): KeyManagement {
  const { issuer, store, secrets, clock } = readOptions('manageSigningKeys()', managementFields, options)
  const now = secondsOf(clock)
  // The server decides on algorithms.
  const terms = { issuer, algorithms: [], rotateAfter: Infinity, publishBefore: undefined, secrets }
  const list = () => new SharedKeys(store, terms).list(now())
  return {
    list,
    async rotate() {
      await new SharedKeys(store, terms).rotate(now())
      return list()
    },
    async retire(kid) {
      if (!(await new SharedKeys(store, terms).retire(kid, now())))
        throw new ConfigurationError('The key cannot be retired:', [
          { path: 'kid', message: 'names no key of this issuer in the store.' },
        ])
      return list()
    },
  }
}

const managementFields = {
  issuer: needed('', aTextThat('must be the URL of the server.')),
  store: needed<Store>(
    noStore,
    kind(isStore, 'must be the store of the server, such as redisStore({ url }).'),
  ),
  secrets: needed([], sharedSecrets),
  clock: aClock,
} satisfies Fields<KeyManagementOptions>
