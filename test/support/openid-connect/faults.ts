import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'

/** What an attacker changes on the way from the server to a client. Each fault changes one thing. */
export interface Fault {
  /** Changes an ID token. The attacker has the key of the server, so that only the intended part is wrong. */
  readonly idToken?: (idToken: string, key: KeyObject) => Promise<string>
  readonly userInfo?: (members: object) => object
  /** Changes the authorization response. */
  readonly redirection?: (parameters: URLSearchParams) => void
}

/** A fault with a name, and what a client says that has noticed it. */
export interface NamedFault extends Fault {
  readonly reason: RegExp
}

const foreignKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

function signed(idToken: string, bend: object, key: KeyObject): Promise<string> {
  const { alg = '', ...header } = decodeProtectedHeader(idToken)
  return new SignJWT({ ...decodeJwt(idToken), ...bend }).setProtectedHeader({ ...header, alg }).sign(key)
}

const claims = (reason: RegExp, bend: object): NamedFault => ({
  reason,
  idToken: (idToken, key) => signed(idToken, bend, key),
})

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

export const faults = {
  'a wrong nonce': claims(/nonce/, { nonce: 'another' }),
  'no nonce': claims(/nonce/, { nonce: undefined }),
  'a wrong issuer': claims(/"iss"|\biss value|not issued by/, { iss: 'https://evil.example' }),
  'a wrong audience': claims(/"aud"|aud mismatch|not intended/, { aud: 'another' }),
  'a wrong authorized party': claims(/azp|not issued to/, { azp: 'another' }),
  'a second audience that is the authorized party': {
    reason: /azp|not issued to/,
    idToken: (idToken, key) =>
      signed(idToken, { aud: [decodeJwt(idToken).aud, 'another'], azp: 'another' }, key),
  },
  'an expired token': claims(/"exp"|expired/, { exp: 1_700_000_000 }),
  'a login before max_age': claims(/auth_time|too much time/i, { auth_time: 1_700_000_000 }),
  'an at_hash of another access token': claims(/at_hash/, { at_hash: 'A'.repeat(22) }),
  'a signature by another key': {
    reason: /signature/,
    idToken: (idToken) => signed(idToken, {}, foreignKey),
  },
  'an unsigned token': {
    reason: /\balg\b/,
    // Without the hash, for which an unsigned token names no digest.
    idToken: async (idToken) =>
      `${encoded({ alg: 'none' })}.${encoded({ ...decodeJwt(idToken), at_hash: undefined })}.`,
  },
  'UserInfo of another subject': {
    reason: /"sub"|\bsub mismatch/,
    userInfo: (members) => ({ ...members, sub: 'mallory' }),
  },
  'a wrong state': { reason: /state/, redirection: (parameters) => parameters.set('state', 'another') },
  'a response of another issuer': {
    reason: /"iss"|\biss mismatch|issuer provided in the response/,
    redirection: (parameters) => parameters.set('iss', 'https://evil.example'),
  },
} satisfies Readonly<Record<string, NamedFault>>

export type FaultName = keyof typeof faults

export const faultNames = Object.keys(faults).filter((name): name is FaultName => Object.hasOwn(faults, name))
