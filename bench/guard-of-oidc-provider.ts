import { createHash } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { Provider } from 'oidc-provider' with { 'resolution-mode': 'import' }
import { scope } from './cast'

/**
 * A guard for bound tokens of oidc-provider, which has none: it looks the token up where the same process has it, checks the
 * proof with jose, as its own endpoints do, and remembers it in its storage of proofs.
 */
export async function proofGuard(provider: Provider, clientId: string): Promise<RequestHandler> {
  const { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } = await import('jose')
  const terms = { typ: 'dpop+jwt', algorithms: ['ES256'], maxTokenAge: 300 }
  const isProven = async (proof: string, value: string, jkt: string | undefined, url: string) => {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, terms)
    const { htm, htu, ath, jti } = payload
    return (
      htm === 'GET' &&
      htu === url &&
      ath === createHash('sha256').update(value).digest('base64url') &&
      jkt === (await calculateJwkThumbprint(protectedHeader.jwk ?? {})) &&
      (await provider.ReplayDetection.unique(clientId, `${jti}`, Math.floor(Date.now() / 1000) + 300))
    )
  }
  return async (request, response, next) => {
    const [, value = ''] = /^DPoP (.+)$/.exec(request.get('authorization') ?? '') ?? []
    const token = await provider.ClientCredentials.find(value)
    const url = `http://127.0.0.1${request.path}`
    if (token?.isValid && token.scopes.has(scope))
      if (await isProven(request.get('dpop') ?? '', value, token.jkt, url)) return next()
    return void response.status(401).set('WWW-Authenticate', 'DPoP error="invalid_token"').end()
  }
}
