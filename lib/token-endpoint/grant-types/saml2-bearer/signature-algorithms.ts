import { createHash, verify, type KeyObject } from 'node:crypto'

interface Algorithm {
  readonly keyType: 'rsa' | 'ec'
  readonly hash: 'sha256' | 'sha384' | 'sha512'
}

const more = 'http://www.w3.org/2001/04/xmldsig-more#'

/** What may sign: neither SHA-1 nor DSA, and no HMAC, for which a public key would be the secret. */
export const signatureAlgorithms: ReadonlyMap<string, Algorithm> = new Map([
  [`${more}rsa-sha256`, { keyType: 'rsa', hash: 'sha256' }],
  [`${more}rsa-sha384`, { keyType: 'rsa', hash: 'sha384' }],
  [`${more}rsa-sha512`, { keyType: 'rsa', hash: 'sha512' }],
  [`${more}ecdsa-sha256`, { keyType: 'ec', hash: 'sha256' }],
  [`${more}ecdsa-sha384`, { keyType: 'ec', hash: 'sha384' }],
  [`${more}ecdsa-sha512`, { keyType: 'ec', hash: 'sha512' }],
])

export const digestAlgorithms: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2001/04/xmlenc#sha256', 'sha256'],
  [`${more}sha384`, 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
])

type Table = Record<string, new () => unknown>

/** A table for the library that holds these entries and, other than an object literal, nothing else. */
export function tableOf(entries: Iterable<readonly [string, new () => unknown]>): Table {
  const table: Table = Object.create(null)
  for (const [name, entry] of entries) table[name] = entry
  return table
}

/** The signature algorithms with these keys alone: whatever key a document brings along, nobody asks for it. */
export function verifiersWith(keys: readonly KeyObject[]): Table {
  return tableOf([...signatureAlgorithms].map(([name, algorithm]) => [name, verifier(name, algorithm, keys)]))
}

export function digesters(): Table {
  return tableOf([...digestAlgorithms].map(([name, hash]) => [name, digester(name, hash)]))
}

function verifier(name: string, { keyType, hash }: Algorithm, keys: readonly KeyObject[]): new () => unknown {
  const able = keys.filter((key) => key.asymmetricKeyType === keyType)
  return class {
    readonly getAlgorithmName = () => name
    readonly verifySignature = (signedInfo: string, _: unknown, value: string) => {
      const data = Buffer.from(signedInfo)
      const signature = Buffer.from(value, 'base64')
      return able.some((key) => verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, signature))
    }
  }
}

function digester(name: string, hash: string): new () => unknown {
  return class {
    readonly getAlgorithmName = () => name
    readonly getHash = (text: string) => createHash(hash).update(text).digest('base64')
  }
}
