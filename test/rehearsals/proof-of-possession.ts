import {
  createHash,
  createHmac,
  createPublicKey,
  type JsonWebKey,
  timingSafeEqual,
  verify,
} from 'node:crypto'
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
const nonceLife = 60
const proofLife = 60

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
            const { thumbprint, id } = proofs.proven(request)
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
          introspect: ({ tokenData: jkt }) => (jkt === undefined ? {} : { cnf: { jkt } }),
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
    challenge: () => ({ algs: 'ES256' }),
    issue: (_token, { evidence }) => ({ properties: {}, tokenData: String(evidence.get('dpop')) }),
    read: (accessToken) => ({
      accessToken,
      async rejectReason({ request, tokenData, useOnce, setHeader }) {
        setHeader('DPoP-Nonce', proofs.nonce())
        const { thumbprint, id } = proofs.proven(request, accessToken)
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
  proven(
    { headers, method, target }: ResourceRequest,
    accessToken?: string,
  ): { readonly thumbprint: string; readonly id: string } {
    const [proof = '', second] = headers['dpop'] ?? []
    const wrong = (what: string) => this.refusal('invalid_dpop_proof', what)
    const [head = '', body = '', signature = ''] = proof.split('.')
    const [{ typ, alg, jwk }, claims] = [partOf(head), partOf(body)]
    if (second !== undefined || typ !== 'dpop+jwt' || alg !== 'ES256' || !isKey(jwk))
      throw wrong('The header DPoP holds no proof.')
    const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: jwk.x, y: jwk.y }, format: 'jwk' })
    const signed = [Buffer.from(`${head}.${body}`), Buffer.from(signature, 'base64url')] as const
    if (!verify('sha256', signed[0], { key, dsaEncoding: 'ieee-p1363' }, signed[1]))
      throw wrong('The proof has a wrong signature.')
    const url = new URL(target, this.guard.issuer)
    const now = this.guard.now()
    const isInTime = typeof claims['iat'] === 'number' && Math.abs(now - claims['iat']) <= proofLife
    if (claims['htm'] !== method || claims['htu'] !== url.origin + url.pathname || !isInTime)
      throw wrong('The proof is for another request.')
    if (accessToken !== undefined && claims['ath'] !== digest(accessToken))
      throw wrong('The proof is for another token.')
    if (![this.nonce(), this.nonce(now - nonceLife)].some((nonce) => isSame(nonce, claims['nonce'])))
      throw this.refusal('use_dpop_nonce', 'The proof needs a nonce of this server.')
    return {
      thumbprint: thumbprintOf(jwk),
      id: `dpop:${digest(`${thumbprintOf(jwk)} ${String(claims['jti'])}`)}`,
    }
  }
}

function partOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object.assign({}, JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    return {}
  }
}

interface Key {
  readonly x: string
  readonly y: string
}
const isKey = (jwk: unknown): jwk is Key =>
  typeof jwk === 'object' &&
  jwk !== null &&
  'x' in jwk &&
  'y' in jwk &&
  [jwk.x, jwk.y].every((part) => typeof part === 'string' && /^[\w-]{43}$/.test(part))
const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
/** RFC 7638 3. */
export const thumbprintOf = ({ x, y }: Pick<JsonWebKey, 'x' | 'y'>) =>
  digest(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
const isSame = (one: string, other: unknown) =>
  typeof other === 'string' &&
  other.length === one.length &&
  timingSafeEqual(Buffer.from(one), Buffer.from(other))
