import type { Json } from '../../protocol/bindings'
import { isRecord, isText } from '../../protocol/configuration'
import type { IssueMoment } from '../../protocol/token-type'
import { sealText, unsealText } from '../../protocol/seal'
import { isMacAlgorithm, type MacAlgorithm } from './algorithm'

/** The key that a client gets with its access token. */
export interface MacKey {
  /** 43 characters of base64url. */
  readonly key: string
  readonly algorithm: MacAlgorithm
  /** Seconds since the epoch. */
  readonly issuedAt: number
}

const keyBytes = 32
const purpose = 'mac key'

export function createMacKey(algorithm: MacAlgorithm, { now, random }: IssueMoment): MacKey {
  return { key: random(keyBytes).toString('base64url'), algorithm, issuedAt: now }
}

/** The key as a store keeps it: sealed under its access token, of which the store has a digest only. */
export function keptOf(
  { key, algorithm, issuedAt }: MacKey,
  accessToken: string,
  { random }: IssueMoment,
): Json {
  return { sealedKey: sealText(key, { credential: accessToken, purpose }, random), algorithm, issuedAt }
}

/** The key again. @throws Error when the record is damaged. */
export function macKeyOf(tokenData: Json | undefined, accessToken: string): MacKey {
  const { sealedKey, algorithm, issuedAt } = isRecord(tokenData) ? tokenData : {}
  const key = isText(sealedKey) ? unsealText(sealedKey, { credential: accessToken, purpose }) : undefined
  if (key === undefined || !isMacAlgorithm(algorithm) || typeof issuedAt !== 'number')
    throw new Error('A stored access token of the type mac is not readable by this version.')
  return { key, algorithm, issuedAt }
}
