import { isExchangeable } from '../authorization/lookup'
import { isRecord, isText } from '../primitives/values'
import type { PluginParts, PluginServer } from '../doors/plug-in'
import { type Client, hasCredentials } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { ClientRequest } from '../protocol/extension'
import type { Json } from '../protocol/json'
import { OAuthError, ProtocolAnswer } from '../protocol/oauth-error'
import { refused } from '../protocol/refusals'
import type { Parameters } from '../protocol/parameters'
import { dpopType, exposedHeaders } from './bound-token'
import type { DpopRules } from './dpop-options'
import type { ProofCheck } from './proof-check'

// RFC 7638 3: SHA-256 as base64url.
const thumbprintGrammar = /^[\w-]{43}$/

// RFC 9449 5 and 10.1: proofs are for the server here.
const provingEndpoints = new Set(['token', 'pushed_authorization_request'])

/** RFC 9449 5 and 10 */
export function keyBinding({ required }: DpopRules, check: ProofCheck, server: PluginServer): PluginParts {
  const needsProof = ({ members, token_type }: Client) =>
    required || members['dpop_bound_access_tokens'] === true || token_type === dpopType
  return {
    exposedHeaders,
    authorizationParameters: ['dpop_jkt'],

    async prepare(request) {
      const { endpoint, client, headers, url } = request
      if (!provingEndpoints.has(endpoint)) return undefined
      const isToken = endpoint === 'token'
      if (headers['dpop'] === undefined && !(isToken && needsProof(client))) return undefined
      // First: a client with an old nonce gets the next one with each response.
      for (const [name, value] of Object.entries(check.nonceHeader())) request.setHeader(name, value)
      const { thumbprint, use } = await check.prove(request, url).catch(async (refusal: unknown) => {
        throw await demandOf(refusal, request, server)
      })
      request.useLast({ key: use, seconds: check.remembered, refusal: () => check.refuse('dpop_replayed') })
      return thumbprint
    },

    authorize({ parameters }) {
      const code = jktIn(parameters)
      return code === undefined ? undefined : { data: { code } }
    },

    async resolve(parameters, _client, { evidence: thumbprint }) {
      if (!isText(thumbprint)) return undefined
      const named = jktIn(parameters)
      // RFC 9449 10.1
      if (named !== undefined && named !== thumbprint) throw refused('dpop_jkt_mismatch')
      return { parameters: parameters.without(['dpop_jkt']).with(new Map([['dpop_jkt', thumbprint]])) }
    },

    bindsRefreshTokens: true,

    issue(request) {
      const { evidence, client } = request
      const thumbprint = isText(evidence) ? evidence : undefined
      // The authorization endpoint takes no proofs, so it gives such clients no tokens.
      if (thumbprint === undefined && needsProof(client)) throw check.refuse('dpop_proof_missing')
      const bound = boundKeys(request.authorizationData)
      requireKey(request.grantType, bound, thumbprint)
      if (thumbprint === undefined) return undefined
      return {
        tokenType: dpopType,
        // A repeated refresh never gets the token of another key.
        tokenData: thumbprint,
        provesKey: bound.refreshToken !== undefined,
        // RFC 9449 5: a confidential client proves itself at each refresh, and may change its key.
        ...(client.client_type === 'public' && { authorizationData: { refreshToken: thumbprint } }),
      }
    },
  }
}

/** To a client that has shown who it is, a demand for a nonce is an answer, and no refusal. */
async function demandOf(
  refusal: unknown,
  { client, endpoint, parameters }: ClientRequest,
  server: PluginServer,
): Promise<unknown> {
  if (!(refusal instanceof OAuthError) || refusal.code !== 'use_dpop_nonce') return refusal
  const { code, reason, description } = refusal
  // The name of a public client is no proof.
  const isHonest =
    hasCredentials(client) || (endpoint === 'token' && (await hasHandle(server, client, parameters)))
  return isHonest ? new ProtocolAnswer(code, reason, description) : refusal
}

const handles = [
  ['code', 'authorizationCode'],
  ['refresh_token', 'refreshToken'],
  ['device_code', 'requestHandle'],
] as const

async function hasHandle(
  server: PluginServer,
  { client_id }: Client,
  parameters: Parameters,
): Promise<boolean> {
  for (const [name, kind] of handles) {
    const text = parameters.peek(name)
    const id = text === undefined ? undefined : credentialId(kind, text)
    if (text !== undefined && id !== undefined) return isExchangeable(await server.find(id), text, client_id)
  }
  return false
}

function jktIn(parameters: Parameters): string | undefined {
  const jkt = parameters.get('dpop_jkt')
  if (jkt !== undefined && !thumbprintGrammar.test(jkt)) throw refused('dpop_jkt_malformed')
  return jkt
}

function requireKey(
  grantType: string,
  { code, refreshToken }: BoundKeys,
  thumbprint: string | undefined,
): void {
  // The authorization endpoint takes no proofs.
  if (grantType === 'implicit') return
  // Of a device, a repeated poll finds the key of the first one.
  const bound = grantType === 'refresh_token' ? refreshToken : (code ?? refreshToken)
  if (bound !== undefined && bound !== thumbprint) throw refused('dpop_key_wrong')
}

/** Thumbprints. */
interface BoundKeys {
  /** RFC 9449 10 */
  readonly code: string | undefined
  /** RFC 9449 5 */
  readonly refreshToken: string | undefined
}

function boundKeys(data: Json | undefined): BoundKeys {
  const { code, refreshToken } = isRecord(data) ? data : {}
  return {
    code: isText(code) ? code : undefined,
    refreshToken: isText(refreshToken) ? refreshToken : undefined,
  }
}
