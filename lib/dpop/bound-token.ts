import { isText } from '../primitives/values'
import { readBearerToken } from '../protocol/http-authentication'
import { refused, type Reason } from '../protocol/refusals'
import type { ResourceRequest, TokenType } from '../protocol/token-type'
import type { DpopRules } from './dpop-options'
import { type ProofCheck, urlOfTarget } from './proof-check'

/** RFC 9449 4.1, 5 and 7.1: the token type, its scheme and its header. */
export const dpopType = 'DPoP'
export const dpopName = 'dpop'

/** RFC 9449 8 and 9 */
export const exposedHeaders = ['DPoP-Nonce']

/** RFC 9449 6 and 7. */
export function boundToken({ algorithms, required, bases }: DpopRules, check: ProofCheck): TokenType {
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
    lackOfGuard(resource) {
      return bases.length > 0 || (resource !== undefined && originOf(resource) !== undefined)
        ? undefined
        : lackOfUrl
    },
    issue(_accessToken, { evidence }) {
      const thumbprint = evidence.get(dpopName)
      // A client or a server has this type for every token.
      if (!isText(thumbprint)) throw refused('dpop_proof_missing')
      return { properties: {}, tokenData: thumbprint }
    },
    read(credentials) {
      const presented = readBearerToken(credentials)
      if (presented === undefined) return undefined
      const { accessToken } = presented
      return {
        accessToken,
        async rejectReason({
          request,
          tokenData,
          resource,
          useOnce,
          setHeader,
        }): Promise<Reason | undefined> {
          for (const [name, value] of Object.entries(check.nonceHeader())) {
            setHeader(name, value)
            // RFC 9449 8.2: a cache would give an old nonce again.
            setHeader('Cache-Control', 'no-store')
          }
          const url = request.url ?? urlAtGuard(request, bases, resource)
          const { thumbprint, use } = await check.prove(request, url, accessToken)
          if (thumbprint !== tokenData) return 'dpop_key_wrong'
          // Last: without the key, an attacker cannot use up a proof of the client.
          if (!(await useOnce(use, check.remembered))) throw check.refuse('dpop_replayed')
          return undefined
        },
      }
    },
  }
}

const lackOfUrl =
  'does not say which URL clients use, and dpop() compares htu with it: set baseUrl of dpop(), such as https://api.example.com, or name a resource at https (option resources).'

function urlAtGuard(
  { target }: ResourceRequest,
  bases: DpopRules['bases'],
  resource: string | undefined,
): string | undefined {
  if (bases.length > 0) return urlOfTarget(target, bases)
  const url = resource === undefined ? undefined : originOf(resource)
  return url === undefined ? undefined : urlOfTarget(target, [{ prefix: '', url }])
}

function originOf(resource: string): string | undefined {
  return /^https?:\/\//i.test(resource) && URL.canParse(resource) ? new URL(resource).origin : undefined
}
