import { type KeyObject, sign, verify } from 'node:crypto'
import type {
  AccessTokenClaims,
  AccessTokenFormat,
  AccessTokenReader,
  PlugIn,
} from 'express-authorization-server'

const algorithm = { name: 'sha256', encoding: 'ieee-p1363' } as const
const jsonOf = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = partOf({ alg: 'ES256', typ: 'at+jwt' })

/** Access tokens as JWTs (RFC 9068), which their authorization still ends. A guard needs the public key alone. */
export function signedAccessTokens(publicKey: KeyObject, signer?: (text: string) => Promise<string>): PlugIn {
  return {
    name: 'signed-access-tokens',
    open: ({ issuer }) => ({ accessTokenFormats: [writer(issuer, publicKey, signer)] }),
    openInGuard: ({ issuer }) => ({ accessTokenFormats: [reader(issuer, publicKey)] }),
  }
}

/** A signer in this process. Another may ask a key management service. */
export const signerWith = (privateKey: KeyObject) => async (text: string) =>
  sign(algorithm.name, Buffer.from(text), { key: privateKey, dsaEncoding: algorithm.encoding }).toString(
    'base64url',
  )

function writer(
  issuer: string,
  publicKey: KeyObject,
  signer: (text: string) => Promise<string> = () => Promise.reject(new Error('This process cannot sign.')),
): AccessTokenFormat {
  return {
    ...reader(issuer, publicKey),
    async encode(claims) {
      const text = `${header}.${partOf(payloadOf(claims))}`
      return `${text}.${await signer(text)}`
    },
  }
}

function payloadOf(claims: AccessTokenClaims): object {
  const { issuer, subject, clientId, scope, issuedAt, expiresAt, authorizationId, tokenId } = claims
  const resources = 'resource-indicators'
  return {
    iss: issuer,
    sub: subject ?? clientId,
    client_id: clientId,
    aud: claims.tokenExtensionData[resources] ?? claims.extensionData[resources] ?? issuer,
    scope: scope.join(' '),
    iat: issuedAt,
    exp: expiresAt,
    // Names the token in its record. Nobody can make a token of it.
    jti: `${authorizationId}.${tokenId}`,
  }
}

function reader(issuer: string, publicKey: KeyObject): AccessTokenReader {
  return {
    name: 'at+jwt',
    async decode(text) {
      const [first = '', second = '', signature = '', more] = text.split('.')
      if (first !== header || more !== undefined) return undefined
      const key = { key: publicKey, dsaEncoding: algorithm.encoding }
      const signed = Buffer.from(`${first}.${second}`)
      if (!verify(algorithm.name, signed, key, Buffer.from(signature, 'base64url'))) return undefined
      const { iss, jti } = Object.assign({ iss: '', jti: '' }, jsonOf(second))
      const [authorizationId = '', tokenId = ''] = jti.split('.')
      return iss === issuer ? { authorizationId, tokenId } : undefined
    },
  }
}
