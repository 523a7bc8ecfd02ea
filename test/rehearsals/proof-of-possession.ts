import { createHash, createHmac } from 'node:crypto'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose'
import {
  invalidGrant,
  OAuthError,
  type PlugIn,
  type PlugInGuard,
  type ResourceRequest,
  type TokenType,
} from 'express-authorization-server'

const tokenType = 'DPoP'
const exposedHeaders = ['DPoP-Nonce']
// Seconds.
const [nonceLife, proofLife] = [60, 60]

/** Access tokens that are bound to a key of the client (RFC 9449). Refresh tokens of public clients are bound, too. */
export const proofOfPossession: PlugIn = {
  name: 'dpop',
  open(server) {
    const proofs = new Proofs(server)
    return {
      tokenTypes: [boundToken(proofs)],
      extensions: [
        {
          name: 'dpop',
          exposedHeaders,
          metadata: { dpop_signing_alg_values_supported: ['ES256'] },
          async prepare(request) {
            if (request.endpoint !== 'token' || request.headers['dpop'] === undefined) return undefined
            const { client_id } = request.client
            const { thumbprint, id } = await proofs.proven(request)
            if (await server.counters.useOnce(id, 2 * proofLife, client_id)) return thumbprint
            throw proofs.refusal('invalid_dpop_proof', 'The proof was used before.')
          },
          atTokenRequest({ evidence: thumbprint, authorizationData, client }) {
            if (authorizationData !== undefined && authorizationData !== thumbprint)
              throw invalidGrant('dpop_key_wrong', 'The refresh token is bound to another key.')
            if (typeof thumbprint !== 'string') return undefined
            const bound = client.client_type === 'public' ? { authorizationData: thumbprint } : {}
            return { tokenType, tokenData: thumbprint, ...bound }
          },
          atTokenResponse: async ({ evidence }) =>
            evidence === undefined ? undefined : { headers: { 'DPoP-Nonce': proofs.nonce() } },
        },
      ],
    }
  },
  openInGuard: (guard) => ({ tokenTypes: [boundToken(new Proofs(guard))] }),
}

function boundToken(proofs: Proofs): TokenType {
  return {
    name: tokenType,
    scheme: tokenType,
    exposedHeaders,
    confirmationMethod: 'jkt',
    challenge: () => ({ algs: 'ES256' }),
    issue: (_token, { evidence }) => ({ properties: {}, tokenData: String(evidence.get('dpop')) }),
    read: (accessToken) => ({
      accessToken,
      async rejectReason({ request, tokenData, useOnce, setHeader }) {
        setHeader('DPoP-Nonce', proofs.nonce())
        const { thumbprint, id } = await proofs.proven(request, accessToken)
        if (thumbprint !== tokenData) return 'dpop_key_wrong'
        return (await useOnce(id, 2 * proofLife)) ? undefined : 'dpop_replayed'
      },
    }),
  }
}

/** The proofs that requests to one server or guard carry. */
class Proofs {
  private readonly key: Buffer

  constructor(private readonly guard: PlugInGuard) {
    this.key = guard.random(32)
  }

  nonce(now = this.guard.now()): string {
    const window = Math.floor(now / nonceLife)
    return createHmac('sha256', this.key).update(`${window}`).digest('base64url')
  }

  refusal(code: 'invalid_dpop_proof' | 'use_dpop_nonce', description: string): OAuthError {
    const headers = { 'DPoP-Nonce': this.nonce() }
    return new OAuthError(code, code, description, { headers, challenge: {} })
  }

  /** Checks the proof of a request, but not whether it was used before. @throws OAuthError */
  async proven({ headers, method, target }: ResourceRequest, accessToken?: string) {
    const [proof = '', second] = headers['dpop'] ?? []
    const now = this.guard.now()
    const expected = {
      typ: 'dpop+jwt',
      algorithms: ['ES256'],
      currentDate: new Date(now * 1000),
      maxTokenAge: proofLife,
      clockTolerance: proofLife,
    }
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, expected).catch(() => {
      throw this.refusal('invalid_dpop_proof', 'The header DPoP holds no valid proof.')
    })
    const url = new URL(target, this.guard.issuer)
    const ath = accessToken === undefined ? undefined : digest(accessToken)
    const isOfRequest = payload['htm'] === method && payload['htu'] === url.origin + url.pathname
    if (second !== undefined || !isOfRequest || (ath !== undefined && payload['ath'] !== ath))
      throw this.refusal('invalid_dpop_proof', 'The proof is for another request or token.')
    if (![this.nonce(), this.nonce(now - nonceLife)].some((nonce) => nonce === payload['nonce']))
      throw this.refusal('use_dpop_nonce', 'The proof needs a nonce of this server.')
    const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk ?? {})
    return { thumbprint, id: `dpop:${digest(`${thumbprint} ${payload.jti}`)}` }
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
