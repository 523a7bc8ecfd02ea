import { verify, type KeyObject } from 'node:crypto'

type Hash = 'sha256' | 'sha384' | 'sha512'

/** What makes signatures. */
export interface SignatureAlgorithm {
  readonly keyType: 'rsa' | 'ec'
  readonly hash: Hash
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#'

/** What may sign: neither SHA-1 nor DSA, and no HMAC, for which a public key would be the secret. */
export const signatureAlgorithms: ReadonlyMap<string, SignatureAlgorithm> = new Map([
  [`${more}rsa-sha256`, { keyType: 'rsa', hash: 'sha256' }],
  [`${more}rsa-sha384`, { keyType: 'rsa', hash: 'sha384' }],
  [`${more}rsa-sha512`, { keyType: 'rsa', hash: 'sha512' }],
  [`${more}ecdsa-sha256`, { keyType: 'ec', hash: 'sha256' }],
  [`${more}ecdsa-sha384`, { keyType: 'ec', hash: 'sha384' }],
  [`${more}ecdsa-sha512`, { keyType: 'ec', hash: 'sha512' }],
])

export const digestAlgorithms: ReadonlyMap<string, Hash> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  [`${more}sha384`, 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])

/** Whether one of the keys made the signature; a key of another type than the algorithm's never did. */
export function isSignedWith(
  keys: readonly KeyObject[],
  { keyType, hash }: SignatureAlgorithm,
  text: string,
  signature: Buffer,
): boolean {
  const data = Buffer.from(text)
  // RFC 4050 3.3, and XML Signature 1.1: both numbers of an ECDSA signature in a row.
  return keys.some(
    (key) =>
      key.asymmetricKeyType === keyType && verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature),
  )
}
