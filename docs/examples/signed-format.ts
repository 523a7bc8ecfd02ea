import { generateKeyPairSync, sign, verify } from 'node:crypto'
import type { AccessTokenFormat } from 'express-authorization-server'

// Keys of your own, which survive a restart, in place of these.
const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const partOf = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Access tokens as JWTs that name their record: `plugins: [{ name: 'signed', accessTokenFormats: [signed] }]`. */
export const signed: AccessTokenFormat = {
  name: 'at+jwt',
  async encode({ authorizationId, tokenId, issuer, subject, clientId, scope, issuedAt, expiresAt }) {
    const claims = {
      iss: issuer,
      aud: issuer,
      sub: subject ?? clientId,
      client_id: clientId,
      scope: scope.join(' '),
      iat: issuedAt,
      exp: expiresAt,
      jti: `${authorizationId}.${tokenId}`,
    }
    const text = `${partOf({ alg: 'EdDSA', typ: 'at+jwt' })}.${partOf(claims)}`
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
  },
  async decode(text) {
    const [header = '', claims = '', signature = ''] = text.split('.')
    const data = Buffer.from(`${header}.${claims}`)
    if (!verify(null, data, publicKey, Buffer.from(signature, 'base64url'))) return undefined
    const { jti } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    const [authorizationId, tokenId] = jti.split('.')
    return { authorizationId, tokenId }
  },
}
