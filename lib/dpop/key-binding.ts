import { isExchangeable } from '../authorization/lookup'
import type { PluginParts, PluginServer } from '../doors/plug-in'
import { isRecord, isText } from '../primitives/values'
import { type Client, hasCredentials } from '../protocol/client'
import { credentialId } from '../protocol/credential'
import type { ClientRequest } from '../protocol/extension'
import { readBearerToken } from '../protocol/http-authentication'
import { OAuthError, ProtocolAnswer } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'
import { refused } from '../protocol/refusals'
import type { TokenType } from '../protocol/token-type'
import type { ProofCheck } from './proof-check'

const dpopType = 'DPoP'
export const dpopName = 'dpop'

/** RFC 9449 8 and 9. */
const exposedHeaders = ['DPoP-Nonce']

interface BindingRules {
  readonly algorithms: readonly string[]
  readonly required: boolean
  /** The longest prefix first; none for the resource of a guard. */
  readonly baseUrl: readonly KnownBase[]
}

export interface KnownBase {
  readonly prefix: string
  readonly url: string
}

/** RFC 9449 6 and 7. */
export function boundToken(
  { algorithms, required, baseUrl: bases }: BindingRules,
  check: ProofCheck,
): TokenType {
  const basesAt = (resource: string | undefined) => (bases.length > 0 ? bases : originOf(resource))
  return {
    name: dpopType,
    scheme: dpopType,
    exposedHeaders,
    confirmationMethod: 'jkt',
    isRequired: required,
    // RFC 9728 2
    resourceMetadata: {
      dpop_signing_alg_values_supported: algorithms,
      ...(required && { dpop_bound_access_tokens_required: true }),
    },
    challenge: () => ({ algs: algorithms.join(' ') }),
    challengeHeaders: () => check.nonceHeader(),
    lackOfGuard: (resource) => (basesAt(resource).length > 0 ? undefined : lackOfUrl),
    issue(_accessToken, { evidence }) {
      const thumbprint = evidence.get(dpopName)
      // A client or a server may have this type for every token.
      if (!isText(thumbprint)) throw refused('dpop_proof_missing')
      return { properties: {}, tokenData: thumbprint }
    },
    read(credentials) {
      const presented = readBearerToken(credentials)
      if (presented === undefined) return undefined
      const { accessToken } = presented
      return {
        accessToken,
        async rejectReason({ request, tokenData, resource, useOnce, setHeader }) {
          for (const [name, value] of Object.entries(check.nonceHeader())) {
            setHeader(name, value)
            // RFC 9449 8.2: a cache would repeat an old nonce.
            setHeader('Cache-Control', 'no-store')
          }
          const url = request.url ?? urlOfTarget(request.target, basesAt(resource))
          const { thumbprint, use } = await check.prove(request, url, accessToken)
          if (thumbprint !== tokenData) return 'dpop_key_wrong'
          // Last: without the key, nobody uses up a proof of the client.
          if (!(await useOnce(use, check.remembered))) throw check.refuse('dpop_replayed')
          return undefined
        },
      }
    },
  }
}

const lackOfUrl =
  'does not say which URL clients use, and dpop() compares htu with it: set baseUrl of dpop(), such as https://api.example.com, or name a resource at https (option resources).'

function originOf(resource = ''): readonly KnownBase[] {
  const isUrl = /^https?:\/\//i.test(resource) && URL.canParse(resource)
  return isUrl ? [{ prefix: '', url: new URL(resource).origin }] : []
}

function urlOfTarget(target: string, bases: readonly KnownBase[]): string | undefined {
  const path = pathOf(target)
  const base = bases.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`))
  return base && base.url + path.slice(base.prefix.length)
}

// RFC 9112 3.2.2: the host of the absolute form does not count.
function pathOf(target: string): string {
  if (!target.startsWith('/') && URL.canParse(target)) return new URL(target).pathname
  const end = target.search(/[?#]/)
  return end < 0 ? target : target.slice(0, end)
}

// RFC 7638 3: SHA-256 as base64url.
const thumbprintGrammar = /^[\w-]{43}$/

// RFC 9449 5 and 10.1.
const provingEndpoints = new Set(['token', 'pushed_authorization_request'])

/** RFC 9449 5 and 10. */
export function keyBinding({ required }: BindingRules, check: ProofCheck, server: PluginServer): PluginParts {
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
      // First: a client with an old nonce gets the next one in any case.
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

    issue({ evidence, client, grantType, authorizationData }) {
      const thumbprint = isText(evidence) ? evidence : undefined
      // The authorization endpoint takes no proofs, so it gives such clients no tokens.
      if (thumbprint === undefined && needsProof(client)) throw check.refuse('dpop_proof_missing')
      // RFC 9449 5 and 10. A repeated poll of a device finds the key of the first one.
      const { code, refreshToken } = isRecord(authorizationData) ? authorizationData : {}
      const bound = grantType === 'refresh_token' ? refreshToken : (code ?? refreshToken)
      if (bound !== undefined && bound !== thumbprint && grantType !== 'implicit')
        throw refused('dpop_key_wrong')
      if (thumbprint === undefined) return undefined
      return {
        tokenType: dpopType,
        // A repeated refresh never gets the token of another key.
        tokenData: thumbprint,
        provesKey: refreshToken !== undefined,
        // RFC 9449 5: a confidential client proves itself at each refresh, and may change its key.
        ...(client.client_type === 'public' && { authorizationData: { refreshToken: thumbprint } }),
      }
    },
  }
}

/** To an honest client, a demand for a nonce is an answer, and no refusal. */
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
