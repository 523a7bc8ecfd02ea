import { type Eventual, following, SingleFlight } from '../../primitives/concurrency'
import { bareError, OAuthError } from '../../protocol/oauth-error'
import { refused } from '../../protocol/refusals'
import { findKey, isWithin, KeySet, type KeySource } from '../key-source'
import type { PublicKey } from '../public-keys'
import type { JwtTerms } from '../verify-jwt'
import { type OpenedKey, signingKeyAt } from './key-record'
import type { SharedKeys } from './shared-keys'
import { type SigningAlgorithm, signingAlgorithms, type SigningKey } from './signing-key'

/** The signing keys of one server, for plug-ins. */
export interface KeyRing {
  /** The usual one first. */
  readonly algorithms: readonly SigningAlgorithm[]
  readonly source: KeySource
  /** @throws OAuthError `temporarily_unavailable`. */
  published(): Promise<readonly PublicKey[]>
  /** Each key stays published for so many seconds after its last signature. */
  outlive(seconds: number): void
  /**
   * Signs claims as a JWT (RFC 7519).
   *
   * @throws OAuthError `temporarily_unavailable` without a key, or if its key service fails.
   */
  sign(algorithm: SigningAlgorithm, type: string, claims: object): Promise<string>
}

/** Whenever the JWT ends. */
export const ownTerms = (issuer: string, source: KeySource, type: string): JwtTerms => ({
  issuers: new Map([[issuer, source]]),
  audience: undefined,
  // jose demands a finite one.
  clockTolerance: Number.MAX_SAFE_INTEGER,
  algorithms: signingAlgorithms,
  types: [type],
})

export function givenRing(keys: readonly SigningKey[]): KeyRing {
  const published = publishedOf(keys)
  return {
    algorithms: [...new Set(keys.map(({ algorithm }) => algorithm))],
    source: new KeySet(published),
    published: async () => published,
    outlive: () => {},
    sign: signWith((algorithm) => keys.find((key) => key.algorithm === algorithm)),
  }
}

// Seconds until a process reads the store again.
const freshFor = 10
// Seconds for which a process goes on while the store fails.
const heldFor = 60

interface HeldKeys {
  readonly opened: readonly OpenedKey[]
  readonly keySet: KeySet
  /** Seconds since the epoch. */
  readonly at: number
}

/** @param clock seconds since the epoch. */
export function sharedRing(
  keys: SharedKeys,
  algorithms: readonly SigningAlgorithm[],
  clock: () => number,
): KeyRing {
  let last: HeldKeys | undefined
  const flights = new SingleFlight<HeldKeys>()

  const refresh = (now: number) =>
    flights.share('', async () => {
      const opened = await keys.refresh(now)
      const keySet = KeySet.following(last?.keySet, publishedOf(opened), now, freshFor)
      return (last = { opened, keySet, at: now })
    })

  const heldWithin = (seconds: number, now: number) =>
    last !== undefined && isWithin(seconds, last.at, now) ? last : undefined

  // Callers during one read share the next: they may need what came meanwhile.
  let next: Promise<HeldKeys> | undefined
  const refreshAnew = (now: number): Promise<HeldKeys> => {
    if (!flights.has('')) return refresh(now)
    return (next ??= refresh(now)
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return refresh(now)
      }))
  }

  const orHeld = (reading: Promise<HeldKeys>, now: number): Promise<HeldKeys> =>
    reading.catch((error: unknown) => heldWithin(heldFor, now) ?? refuse(error))
  const current = (): Eventual<HeldKeys> => {
    const now = clock()
    return heldWithin(freshFor, now) ?? orHeld(refresh(now), now)
  }

  // By the clock of the server alone: anyone can write the `iat` by which a caller may look.
  const source: KeySource = {
    find(_now, header) {
      const now = clock()
      const trusted = heldWithin(freshFor, now)?.keySet
      const read = async () => (await refreshAnew(now).catch(refuse)).keySet
      const standIn = () => heldWithin(heldFor, clock())?.keySet
      return findKey(trusted, read, standIn, now, header)
    },
  }
  return {
    algorithms,
    source,
    outlive: (seconds) => keys.outlive(seconds),
    published: async () => publishedOf((await orHeld(refreshAnew(clock()), clock())).opened),
    sign: signWith((name) => following(current(), ({ opened, at }) => signingKeyAt(opened, name, at))),
  }
}

/** Refuses no JWT. */
function refuse(error: unknown): never {
  if (error instanceof OAuthError) throw error
  throw refused('signing_keys_unavailable', {}, { cause: bareError(error) })
}

const publishedOf = (keys: readonly SigningKey[]): readonly PublicKey[] =>
  keys.map(({ publicKey }) => publicKey)

const signWith =
  (keyFor: (algorithm: SigningAlgorithm) => Eventual<SigningKey | undefined>): KeyRing['sign'] =>
  async (algorithm, type, claims) => {
    const key = await keyFor(algorithm)
    if (key === undefined) throw new Error(`The server has no key for ${algorithm}.`)
    return signJwt(key, { typ: type, kid: key.kid }, claims)
  }

export async function signJwt(
  key: SigningKey,
  header: { readonly typ: string; readonly kid: string | undefined },
  claims: object,
): Promise<string> {
  const text = `${partOf({ alg: key.algorithm, ...header })}.${partOf(claims)}`
  try {
    return `${text}.${(await key.sign(Buffer.from(text))).toString('base64url')}`
  } catch (error) {
    // Uses nothing up: the client may try again.
    throw refused('signer_unavailable', {}, { cause: bareError(error) })
  }
}

const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
