import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import { rsaKeyPair } from '../rsa-keys'

/** A party that makes assertions, with one key. */
export interface Signer {
  readonly issuer: string
  readonly kid: string
  readonly alg: 'RS256' | 'ES256'
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** The public key as its JWK set has it. */
  readonly jwk: { readonly kid: string; readonly [member: string]: unknown }
}

type Claims = Readonly<Record<string, unknown>>

export function signer(issuer: string, kid: string, alg: Signer['alg'] = 'ES256', bits = 2048): Signer {
  const { privateKey, publicKey } =
    alg === 'RS256' ? rsaKeyPair(bits) : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { issuer, kid, alg, privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } }
}

/** The trusted issuer of the stories, and one more that is trusted with keys of its own. */
export const hub = signer('https://issuer.example', 'hub-1', 'RS256')
export const hubOnCurve: Signer = signer(hub.issuer, 'hub-2')
export const partner = signer('https://partner.example', 'partner-1')

/** The issuers as an option. */
export const issuers = [
  { issuer: hub.issuer, jwks: { keys: [hub.jwk, hubOnCurve.jwk] } },
  { issuer: partner.issuer, jwks: { keys: [partner.jwk] } },
]
export const audience = 'http://localhost'

/** What a good assertion says; now in seconds since the epoch. */
export function claimsAt(now: number, { issuer }: Signer = hub): Claims {
  const times = { iat: now, exp: now + 300 }
  return { iss: issuer, sub: 'alice@issuer.example', aud: audience, jti: randomUUID(), ...times }
}

export const encoded = (text: string | Uint8Array): string => Buffer.from(text).toString('base64url')
export const json = (value: unknown): string => encoded(JSON.stringify(value))

/** A JWT as this key signs it, put together by hand, so that it can be bent in every way. */
export function jwt(by: Signer, claims: unknown, header: Claims = {}): string {
  return jws(by, json(claims), { typ: 'JWT', kid: by.kid, ...header })
}

/** A signature over any payload that is encoded already. */
export function jws(by: Signer, payload: string, header: Claims): string {
  const input = `${json({ alg: by.alg, ...header })}.${payload}`
  return `${input}.${encoded(sign('sha256', Buffer.from(input), { key: by.privateKey, dsaEncoding: 'ieee-p1363' }))}`
}
