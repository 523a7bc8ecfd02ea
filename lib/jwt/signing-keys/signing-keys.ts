import { issuerDigest } from '../../authorization/issuer'
import { OptionsReader } from '../../primitives/options-reader'
import { isList, isRecord, isText, isWhole } from '../../primitives/values'
import type { PlugIn, PlugInServer } from '../../doors/plug-in'
import { secureRandom } from '../../protocol/credential'
import type { Endpoint } from '../../protocol/endpoint'
import { requireJose } from '../jose'
import { type GivenKey, givenRing, readGivenKeys } from './given-keys'
import type { KeyRing } from './key-ring'
import { leadTime, publishedFor } from './key-schedule'
import { SharedKeys } from './shared-keys'
import { sharedRing } from './shared-ring'
import { isSigningAlgorithm, type SigningAlgorithm, signingAlgorithms } from './signing-algorithm'

/** Options of {@link signingKeys}. Give either `secrets` or `keys`. */
export type SigningKeysOptions = SharedKeysOptions | GivenKeysOptions

/** The server makes its keys, shares them through the store, and replaces them in time. */
export interface SharedKeysOptions {
  /**
   * Seal the keys in the store: texts of at least 32 characters, such as the output of
   * `openssl rand -base64 32`. The first one seals new keys, each opens keys. To change the secret, first
   * give all processes `[old, new]`, then `[new, old]`. A key stays sealed with its secret: remove the old
   * one only when `keys list` shows no key under it.
   */
  readonly secrets: readonly string[]
  /** One key for each; the first one is the usual one. Default `['ES256']`. */
  readonly algorithms?: readonly SigningAlgorithm[]
  /**
   * Whole seconds from its first signature until the successor of a key is made, at least 3600. Default 90
   * days.
   */
  readonly rotateAfter?: number
  /**
   * Whole seconds for which a successor is published before it signs: at least as long as caches elsewhere
   * hold the keys, 900 to 30 days. Default 900.
   */
  readonly publishBefore?: number
  readonly keys?: undefined
}

/** The host makes the keys, and replaces them. */
export interface GivenKeysOptions {
  /**
   * The first key of each algorithm signs; all are published. To replace a key, append the new one, an hour
   * later put it first, and remove the old one when its last token has expired.
   */
  readonly keys: readonly GivenKey[]
  readonly secrets?: undefined
  readonly algorithms?: undefined
  readonly rotateAfter?: undefined
  readonly publishBefore?: undefined
}

/**
 * The signing keys of a server. Plug-ins that sign, such as `jwtAccessTokens({ keys })`, take this object,
 * and follow it in the option `plugIns`.
 */
export interface SigningKeys extends PlugIn {
  /**
   * The keys of one server, for `open()` of a plug-in.
   *
   * @throws Error unless this object stands before that plug-in in the option `plugIns`.
   */
  ringOf(server: PlugInServer): KeyRing
}

/**
 * Signing keys, with their public halves at `/.well-known/jwks.json` (RFC 7517 5), the `jwks_uri` of the
 * metadata. The store holds keys only sealed: a dump of it signs nothing, and who can write it cannot add a
 * key. Needs the package jose.
 *
 * @throws ConfigurationError that lists every mistake in the options.
 */
export function signingKeys(options: SigningKeysOptions): SigningKeys {
  const ringFor = readOptions(options)
  const rings = new WeakMap<PlugInServer, KeyRing>()
  return {
    name: 'signing-keys',
    open(server) {
      const ring = ringFor(server)
      rings.set(server, ring)
      return { endpoints: [publishedKeys(server.urlOf, ring)], ready: () => ring.published() }
    },
    ringOf(server) {
      const ring = rings.get(server)
      if (ring !== undefined) return ring
      throw new Error('needs its signingKeys() before it in plugIns: plugIns: [keys, other({ keys })].')
    },
  }
}

const path = '/.well-known/jwks.json'

function publishedKeys(urlOf: PlugInServer['urlOf'], ring: KeyRing): Endpoint {
  return {
    name: 'jwks',
    path,
    method: 'GET',
    clientAuthentication: 'none',
    listed: false,
    cors: true,
    // Guards of other servers go on, and need the keys.
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

type RingFor = (server: PlugInServer) => KeyRing

const needed = 'must be given, or keys, and not both.'

function readOptions(options: unknown): RingFor {
  const reading = new OptionsReader(options, '')
  const given = reading.optional<readonly unknown[] | undefined>(
    'keys',
    undefined,
    isNonEmpty,
    'must be a list of keys, at least one.',
  )
  const secrets = readSecrets(reading)
  const plan = readPlan(reading)
  const keys = given === undefined ? [] : readGivenKeys(reading, given)
  if (reading.issues.length === 0 && (given === undefined) === (secrets === undefined))
    reading.wrong('secrets', needed)
  if (given !== undefined)
    for (const key of ['algorithms', 'rotateAfter', 'publishBefore'])
      if (reading.take(key) !== undefined) reading.wrong(key, 'belongs to secrets, and keys are given.')
  reading.refuseUnknown()
  reading.throwIssues('signingKeys() cannot work with these options:')
  requireJose('signingKeys()')
  if (secrets === undefined) return () => givenRing(keys)
  return ({ issuer, keys: store, now }) => {
    if (store === undefined)
      throw new Error(
        'the store keeps no keys, so signingKeys({ secrets }) cannot share them. Use a store with the member keys, such as redisStore({ url }), or give keys of your own: signingKeys({ keys }).',
      )
    const terms = { issuer, name: issuerDigest(issuer), ...plan, secrets }
    return sharedRing(new SharedKeys(store, terms, secureRandom), plan.algorithms, now)
  }
}

export function readSecrets(reading: OptionsReader): readonly string[] | undefined {
  return reading.optional<readonly string[] | undefined>(
    'secrets',
    undefined,
    areSecrets,
    `must be a list of texts of at least ${shortestSecret} characters, such as the output of openssl rand -base64 32.`,
  )
}

function readPlan(reading: OptionsReader): {
  readonly algorithms: readonly SigningAlgorithm[]
  readonly rotateAfter: number
  readonly publishBefore: number
} {
  const most = 3650 * day
  return {
    algorithms: reading.optional<readonly SigningAlgorithm[]>(
      'algorithms',
      ['ES256'],
      areAlgorithms,
      `must be a list of ${signingAlgorithms.join(', ')}, each once.`,
    ),
    rotateAfter: reading.optional(
      'rotateAfter',
      90 * day,
      isWhole(3600, most),
      `must be whole seconds, 3600 to ${most}.`,
    ),
    publishBefore: reading.optional(
      'publishBefore',
      leadTime,
      isWhole(leadTime, 30 * day),
      `must be whole seconds, ${leadTime} to ${30 * day}.`,
    ),
  }
}

const day = 24 * 3600
const shortestSecret = 32
const isNonEmpty = (value: unknown): value is readonly unknown[] => isList(value) && value.length > 0
const areSecrets = (value: unknown): value is readonly string[] =>
  isNonEmpty(value) && value.every((secret) => isText(secret) && secret.length >= shortestSecret)
const areAlgorithms = (value: unknown): value is readonly SigningAlgorithm[] =>
  isNonEmpty(value) && value.every(isSigningAlgorithm) && new Set(value).size === value.length

export const isSigningKeys = (value: unknown): value is SigningKeys =>
  isRecord(value) && typeof value['ringOf'] === 'function'

const neverOpened = () => {
  throw new Error('There are no signing keys.')
}
export const noKeys: SigningKeys = { name: 'none', open: neverOpened, ringOf: neverOpened }
