import { createPrivateKey } from 'node:crypto'
import { aText } from '../../primitives/fields'
import { kind, rootPlace, shape } from '../../primitives/schema'
import { isList, isRecord, isText, isWhole } from '../../primitives/values'
import { digest, sealText, secureRandom, unsealText } from '../../protocol/credential'
import { type SigningAlgorithm, signingAlgorithm, type SigningKey, signingKeyOf } from './signing-key'

/** Seconds since the epoch. */
export interface KeyTimes {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly createdAt: number
  /** From then, verifiers elsewhere know the key. */
  readonly signsFrom: number
  /** Seconds published after its last signature. */
  readonly longest: number
  /** Seconds for which its successor is published before it signs. */
  readonly lead: number
}

/** Seconds for which caches may hold the published keys. */
export const publishedFor = 600
// Seconds.
const clockTolerance = 300

/** Seconds until every cache that keeps the rules has a new key. */
export const leadTime = publishedFor + clockTolerance

/**
 * The newest key that verifiers know; else the one that will be first: a signature that some verifiers cannot
 * check yet is better than none.
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

/** Dated by a clock that was wrong. */
const isAhead = ({ createdAt }: KeyTimes, now: number): boolean => createdAt > now + clockTolerance

/** A key without a successor has no end. */
export const livingKeys = <Key extends KeyTimes>(keys: readonly Key[], now: number): readonly Key[] =>
  keys.filter((key) => {
    const own = inOrder(keys, key.algorithm)
    const successor = own[own.findIndex(({ kid }) => kid === key.kid) + 1]
    return successor === undefined || now < successor.signsFrom + key.longest + clockTolerance
  })

/** Undefined if none is due. The first key, and the successor of a retired one, sign at once. */
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

// Two processes may make two keys at one time: the kid decides, everywhere alike.
const inOrder = <Key extends KeyTimes>(keys: readonly Key[], algorithm: SigningAlgorithm): readonly Key[] =>
  keys
    .filter((key) => key.algorithm === algorithm)
    .toSorted((one, other) => one.signsFrom - other.signsFrom || (one.kid < other.kid ? -1 : 1))

export interface OpenedKey extends KeyTimes, SigningKey {
  /** PKCS #8, base64url. */
  readonly secretText: string
}

export interface SealedKey extends KeyTimes {
  readonly sealed: string
}

const aTime = kind(isWhole(0, Number.MAX_SAFE_INTEGER), 'must be whole seconds.')
const timeFields = { createdAt: aTime, signsFrom: aTime, longest: aTime, lead: aTime }
const sealedKey = shape<SealedKey>({ kid: aText, algorithm: signingAlgorithm, ...timeFields, sealed: aText })

/** Proves nothing: only the seal of a key does. */
export const parseKeys = (text: string | undefined): readonly SealedKey[] =>
  listIn(text, 'keys').map((key) => sealedKey(key, rootPlace(undefined), '') ?? unreadable())

export const formatRetired = (kids: readonly string[]): string =>
  JSON.stringify({ retired: kids.slice(-retiredAtMost) })

// A mark counts only while some process may hold the key.
const retiredAtMost = 1000

export const parseRetired = (text: string | undefined): readonly string[] =>
  listIn(text, 'retired').map((kid) => (isText(kid) ? kid : unreadable()))

function listIn(text: string | undefined, name: string): readonly unknown[] {
  const value: unknown = text === undefined ? { [name]: [] } : JSON.parse(text)
  return isRecord(value) && isList(value[name]) ? value[name] : unreadable()
}

function unreadable(): never {
  throw new Error('The store holds signing keys that this version cannot read.')
}

const timesOf = ({ kid, algorithm, createdAt, signsFrom, longest, lead }: KeyTimes): KeyTimes => ({
  kid,
  algorithm,
  createdAt,
  signsFrom,
  longest,
  lead,
})

const textOfTimes = (key: KeyTimes): string => JSON.stringify(Object.values(timesOf(key)))

export const isSameKey = (stored: KeyTimes, key: KeyTimes): boolean =>
  textOfTimes(stored) === textOfTimes(key)

/** The first one seals, each may open. */
export class KeySeal {
  private readonly credentials: readonly string[]

  constructor(
    private readonly issuer: string,
    secrets: readonly string[],
  ) {
    // The derivation wants secrets of one length.
    this.credentials = secrets.map((secret) => digest(secret))
  }

  seal(key: OpenedKey): SealedKey {
    const [credential = ''] = this.credentials
    const sealed = sealText(key.secretText, { credential, purpose: this.purposeOf(key) }, secureRandom)
    return { ...timesOf(key), sealed }
  }

  /** Undefined if no secret fits, or after a change. */
  open(key: SealedKey): { readonly key: OpenedKey; readonly secretIndex: number } | undefined {
    const purpose = this.purposeOf(key)
    for (const [secretIndex, credential] of this.credentials.entries()) {
      const text = unsealText(key.sealed, { credential, purpose })
      if (text !== undefined) return { key: openedKey(timesOf(key), text), secretIndex }
    }
    return undefined
  }

  // A record of another issuer, kid, algorithm or time does not open.
  private purposeOf(key: KeyTimes): string {
    return `signing key ${JSON.stringify(this.issuer)} ${textOfTimes(key)}`
  }
}

function openedKey(times: KeyTimes, secretText: string): OpenedKey {
  const key = createPrivateKey({ key: Buffer.from(secretText, 'base64url'), format: 'der', type: 'pkcs8' })
  return { ...times, ...signingKeyOf(key, times.algorithm, times.kid), secretText }
}
