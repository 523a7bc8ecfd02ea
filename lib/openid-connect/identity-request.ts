import { isRecord, isText, isTexts } from '../primitives/options-reader'
import type { Json } from '../protocol/json'
import { invalidRequest, OAuthError } from '../protocol/oauth-error'
import type { Parameters } from '../protocol/parameters'

/** The parameters of OpenID Connect that the plug-in reads (OpenID Connect Core 3.1.2.1, 5.5, 6 and 7.2.1). */
export const identityParameters = [
  'nonce',
  'claims',
  'id_token_hint',
  'request',
  'request_uri',
  'registration',
]

/** What an authorization keeps for its ID tokens. */
interface IdentityRequest {
  readonly nonce: string | undefined
  /** The claims that the client asks for by name. */
  readonly userInfo: readonly string[]
  readonly idToken: readonly string[]
}

const longestNonce = 1024
const longestClaims = 4096
const claimsAtMost = 50

/**
 * Reads an authorization request of OpenID Connect; undefined for a request of OAuth alone.
 *
 * @param takesClaims whether the server reads the parameter `claims`.
 * @throws OAuthError for a parameter that is malformed or not supported.
 */
export function parseIdentityRequest(
  parameters: Parameters,
  takesClaims: boolean,
): IdentityRequest | undefined {
  for (const name of ['request', 'request_uri', 'registration'])
    if (parameters.get(name) !== undefined)
      throw new OAuthError(
        `${name}_not_supported`,
        'parameter_not_supported',
        `The parameter ${name} is not supported.`,
      )
  if (!(parameters.get('scope') ?? '').split(' ').includes('openid')) return undefined
  const nonce = parameters.get('nonce')
  if (nonce !== undefined && nonce.length > longestNonce)
    throw invalidRequest('parameter_too_long', 'The parameter nonce is too long.')
  const claims = takesClaims ? claimsIn(parameters.get('claims')) : {}
  return { nonce, userInfo: namesIn(claims['userinfo']), idToken: namesIn(claims['id_token']) }
}

function claimsIn(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  if (text.length > longestClaims)
    throw invalidRequest('parameter_too_long', 'The parameter claims is too long.')
  try {
    const value: unknown = JSON.parse(text)
    if (isRecord(value)) return value
  } catch {
    // The answer is the same.
  }
  throw invalidRequest('parameter_malformed', 'The parameter claims is malformed.')
}

// OpenID Connect Core 5.5: an unknown claim is ignored. What the host does not know is left out of the answer.
const namesIn = (member: unknown): readonly string[] =>
  isRecord(member) ? Object.keys(member).slice(0, claimsAtMost) : []

/** What the record keeps of a request. */
export const keptOf = ({ nonce, userInfo, idToken }: IdentityRequest): Json => ({
  ...(nonce !== undefined && { nonce }),
  ...(userInfo.length > 0 && { userInfo }),
  ...(idToken.length > 0 && { idToken }),
})

/** The request in a record; undefined if the authorization is none of OpenID Connect. */
export function keptIn(data: Json | undefined): IdentityRequest | undefined {
  if (!isRecord(data)) return undefined
  const { nonce, userInfo, idToken } = data
  return {
    nonce: isText(nonce) ? nonce : undefined,
    userInfo: isTexts(userInfo) ? userInfo : [],
    idToken: isTexts(idToken) ? idToken : [],
  }
}
