import type { RequestHandler } from 'express'
import { client, lifetimes, owner, resource as audience, scope } from './cast'
import { port } from './target'

/** An issuer of access tokens in the process that guards by them: its keys come over HTTP, as of any issuer. */
export async function jwtIssuer() {
  const { exportJWK, generateKeyPair, SignJWT } = await import('jose')
  const algorithm = process.env['BENCH_ALGORITHM'] ?? 'ES256'
  const { publicKey, privateKey } = await generateKeyPair(algorithm)
  const issuer = `http://127.0.0.1:${port}`
  const keys = [{ ...(await exportJWK(publicKey)), alg: algorithm, kid: 'bench', use: 'sig' }]
  const showKeys: RequestHandler = (_request, response) => void response.json({ keys })
  const issue: RequestHandler = async (_request, response) => {
    const accessToken = await new SignJWT({ client_id: client.id, scope })
      .setProtectedHeader({ alg: algorithm, kid: 'bench', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(owner)
      .setJti('bench')
      .setIssuedAt()
      .setExpirationTime(`${lifetimes.accessToken} s`)
      .sign(privateKey)
    response.json({ access_token: accessToken, token_type: 'Bearer' })
  }
  return { issuer, audience, algorithm, jwksUri: `${issuer}/jwks.json`, showKeys, issue }
}
