import { createPrivateKey, createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto'
import { isRecord, isText } from '../../primitives/values'
import { materialOf, type PublicKey, thumbprintOf } from '../public-keys'
import { algorithmOf, type SigningAlgorithm, signingAlgorithms } from './signing-algorithm'

/** RFC 7517 4 */
type PublishedKey = PublicKey & { readonly use: 'sig' }

export interface SigningKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly publicKey: PublishedKey
  /** May wait, such as for a key service. */
  readonly sign: (text: Buffer) => Promise<Buffer>
}

/** @param named default: the thumbprint (RFC 7638). */
export function signingKey(
  publicKey: KeyObject,
  algorithm: SigningAlgorithm,
  named: string | undefined,
  sign: SigningKey['sign'],
): SigningKey {
  const jwk = materialOf(publicKey.export({ format: 'jwk' })) ?? {}
  const kid = named ?? thumbprintOf(jwk)
  return { kid, algorithm, publicKey: { ...jwk, use: 'sig', kid, alg: algorithm }, sign }
}

export function signingKeyOf(privateKey: KeyObject, algorithm: SigningAlgorithm, kid?: string): SigningKey {
  const { sign } = algorithmOf(algorithm)
  return signingKey(createPublicKey(privateKey), algorithm, kid, (text) => sign(privateKey, text))
}

export const readPrivateKey = (value: unknown): KeyObject | undefined =>
  readKey(value, 'private', createPrivateKey)

export const readPublicKey = (value: unknown): KeyObject | undefined =>
  readKey(value, 'public', createPublicKey)

function readKey(
  value: unknown,
  type: KeyObject['type'],
  parse: (input: string | JsonWebKeyInput) => KeyObject,
): KeyObject | undefined {
  if (isKeyObject(value)) return value.type === type ? value : undefined
  try {
    if (isText(value)) return parse(value)
    return isRecord(value) ? parse({ key: value, format: 'jwk' }) : undefined
  } catch {
    return undefined
  }
}

// Not `instanceof`: a host may load another copy of the class, such as in a test runner.
const isKeyObject = (value: unknown): value is KeyObject =>
  isRecord(value) && isText(value['type']) && typeof value['export'] === 'function'

export const algorithmsFor = (key: KeyObject): readonly SigningAlgorithm[] =>
  signingAlgorithms.filter((name) => algorithmOf(name).fits(key))
