import { createPrivateKey } from 'node:crypto'
import { aText } from '../../primitives/fields'
import { kind, rootPlace, shape } from '../../primitives/schema'
import { isList, isRecord, isText, isWhole } from '../../primitives/values'
import { digest, sealText, secureRandom, unsealText } from '../../protocol/credential'
import { type SigningAlgorithm, signingAlgorithm } from './signing-algorithm'
import { type SigningKey, signingKeyOf } from './signing-key'

/** Seconds since the epoch. */
export interface KeyTimes {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly createdAt: number
  /** When verifiers elsewhere know the key. */
  readonly signsFrom: number
  /** Seconds for which the key stays published after its last signature. */
  readonly longest: number
  /** Seconds for which its successor is published before it signs. */
  readonly lead: number
}

export interface OpenedKey extends KeyTimes, SigningKey {
  /** PKCS #8 in base64url. */
  readonly secretText: string
}

export interface SealedKey extends KeyTimes {
  readonly sealed: string
}

export const formatKeys = (keys: readonly SealedKey[]): string => JSON.stringify({ keys })

const aTime = kind(isWhole(0, Number.MAX_SAFE_INTEGER), 'must be whole seconds.')
const timeFields = { createdAt: aTime, signsFrom: aTime, longest: aTime, lead: aTime }
const sealedKey = shape<SealedKey>({ kid: aText, algorithm: signingAlgorithm, ...timeFields, sealed: aText })

/** Proves nothing: only the seal of a key does. */
export const parseKeys = (text: string | undefined): readonly SealedKey[] =>
  listIn(text, 'keys').map((key) => sealedKey(key, rootPlace(undefined), '') ?? unreadable())

export const formatRetired = (kids: readonly string[]): string =>
  JSON.stringify({ retired: kids.slice(-retiredAtMost) })

// A mark counts only while some process may hold the key, so old marks may go.
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

export const textOfTimes = (key: KeyTimes): string => JSON.stringify(Object.values(timesOf(key)))

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

  seal({ secretText, ...key }: OpenedKey): SealedKey {
    const times = timesOf(key)
    const [credential = ''] = this.credentials
    const sealed = sealText(secretText, { credential, purpose: this.purposeOf(times) }, secureRandom)
    return { ...times, sealed }
  }

  /** Undefined if no secret fits, or if anything about the key was altered. */
  open(key: SealedKey): OpenedKey | undefined {
    const opened = this.secretOf(key)
    return opened && openedKey(timesOf(key), opened.text)
  }

  secretIndex(key: SealedKey): number | undefined {
    return this.secretOf(key)?.index
  }

  private secretOf(key: SealedKey): { readonly index: number; readonly text: string } | undefined {
    const purpose = this.purposeOf(key)
    for (const [index, credential] of this.credentials.entries()) {
      const text = unsealText(key.sealed, { credential, purpose })
      if (text !== undefined) return { index, text }
    }
    return undefined
  }

  // A part of the key that seals: a record of another issuer, kid, algorithm or time does not open.
  private purposeOf(key: KeyTimes): string {
    return `signing key ${JSON.stringify(this.issuer)} ${textOfTimes(key)}`
  }
}

export function openedKey(times: KeyTimes, secretText: string): OpenedKey {
  const key = createPrivateKey({ key: Buffer.from(secretText, 'base64url'), format: 'der', type: 'pkcs8' })
  return { ...times, ...signingKeyOf(key, times.algorithm, times.kid), secretText }
}
