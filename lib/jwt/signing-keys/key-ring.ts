import type { KeyTimes } from './key-record'
import { type SigningAlgorithm, signingAlgorithms } from './signing-algorithm'
import { bareError } from '../../protocol/oauth-error'
import { refused } from '../../protocol/refusals'
import type { Eventual } from '../../primitives/concurrency'
import type { KeySource } from '../key-source'
import type { PublicKey } from '../public-keys'
import type { JwtTerms } from '../verify-jwt'
import type { SigningKey } from './signing-key'

/** Seconds for which caches may hold the published keys. */
export const publishedFor = 600
// Seconds by which clocks may differ.
const clockTolerance = 300

/** Least seconds of a new key before it signs: until every cache within the rules has it. */
export const leadTime = publishedFor + clockTolerance

/**
 * The newest key that verifiers know; else the one that will be first: it follows a retired key, and a
 * signature that some verifiers cannot check yet is better than none.
 */
export function signingKeyAt<Key extends KeyTimes>(
  keys: readonly Key[],
  algorithm: SigningAlgorithm,
  now: number,
): Key | undefined {
  const own = inOrder(keys, algorithm)
  return (
    own.findLast(({ signsFrom }) => signsFrom <= now) ?? own.findLast((key) => isAhead(key, now)) ?? own[0]
  )
}

/** Dated by a process whose clock was wrong: no successor is made so far ahead. */
const isAhead = ({ createdAt }: KeyTimes, now: number): boolean => createdAt > now + clockTolerance

export const isWaiting = (key: KeyTimes, now: number): boolean => key.signsFrom > now && !isAhead(key, now)

/** A key ends with the last token that it signed. */
export const livingKeys = <Key extends KeyTimes>(keys: readonly Key[], now: number): readonly Key[] =>
  keys.filter((key) => now < endOf(key, keys))

/** A key without a successor has no end. */
function endOf(key: KeyTimes, keys: readonly KeyTimes[]): number {
  const own = inOrder(keys, key.algorithm)
  const successor = own[own.findIndex(({ kid }) => kid === key.kid) + 1]
  return successor === undefined ? Infinity : successor.signsFrom + key.longest + clockTolerance
}

/**
 * Undefined if none is due. The first key, and the successor of a retired one, sign at once. A successor that
 * is there already is enough.
 */
export function nextKeyFrom(
  keys: readonly KeyTimes[],
  algorithm: SigningAlgorithm,
  { rotateAfter, lead }: { readonly rotateAfter: number; readonly lead: number },
  now: number,
): number | undefined {
  const own = inOrder(keys, algorithm)
  if (own.length === 0) return now
  const newest = own.findLast((key) => !isAhead(key, now))
  return newest === undefined || now >= newest.signsFrom + rotateAfter ? now + lead : undefined
}

// Two processes that lost sight of each other may make two keys at one time: the kid decides, everywhere
// alike.
const inOrder = <Key extends KeyTimes>(keys: readonly Key[], algorithm: SigningAlgorithm): readonly Key[] =>
  keys
    .filter((key) => key.algorithm === algorithm)
    .toSorted((one, other) => one.signsFrom - other.signsFrom || (one.kid < other.kid ? -1 : 1))

/** The signing keys of one server, for plug-ins that sign and verify. */
export interface KeyRing {
  /** The usual one first. */
  readonly algorithms: readonly SigningAlgorithm[]
  /** Verifies JWTs of this server. */
  readonly source: KeySource
  /** RFC 7517 5. @throws OAuthError `temporarily_unavailable`. */
  published(): Promise<readonly PublicKey[]>
  /** For `open()` of a plug-in: each key stays published for so many seconds after its last signature. */
  outlive(seconds: number): void
  /**
   * Signs claims as a JWT (RFC 7519).
   *
   * @param type `typ` of the header, such as `at+jwt`.
   * @throws OAuthError `temporarily_unavailable` without a key, or if its key service fails.
   */
  sign(algorithm: SigningAlgorithm, type: string, claims: object): Promise<string>
}

/** For a JWT of this server, whenever it ends. */
export const ownTerms = (issuer: string, source: KeySource, type: string): JwtTerms => ({
  issuers: new Map([[issuer, source]]),
  audience: undefined,
  // Finite, because jose demands it.
  clockTolerance: Number.MAX_SAFE_INTEGER,
  algorithms: signingAlgorithms,
  types: [type],
})

export const publishedOf = (keys: readonly SigningKey[]): readonly PublicKey[] =>
  keys.map(({ publicKey }) => publicKey)

export const signWith =
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
  return `${text}.${(await signatureOf(key, Buffer.from(text))).toString('base64url')}`
}

const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

// Uses nothing up, so the client may try again.
async function signatureOf(key: SigningKey, text: Buffer): Promise<Buffer> {
  try {
    return await key.sign(text)
  } catch (error) {
    throw refused('signer_unavailable', {}, { cause: bareError(error) })
  }
}
