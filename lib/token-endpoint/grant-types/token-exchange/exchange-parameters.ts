import { refused } from '../../../protocol/refusals'
import type { Parameters } from '../../../protocol/parameters'
import { malformedScope, parseScope, type Scope } from '../../../protocol/scope'
import { requireResourceUris } from '../../../extensions/resource-indicators/resource-indicators'
import { accessTokenType, type PresentedSecurityToken, type SecurityTokenTypes } from './security-token'

/** RFC 8693 3. A refresh token works only at its own grant. */
export const refreshTokenType = 'urn:ietf:params:oauth:token-type:refresh_token'

interface ExchangeParameters {
  readonly subjectToken: PresentedSecurityToken
  readonly actorToken: PresentedSecurityToken | undefined
  readonly scope: Scope | undefined
  readonly resource: readonly string[]
  readonly audience: readonly string[]
}

export function exchangeParameters(
  parameters: Parameters,
  tokenTypes: SecurityTokenTypes,
): ExchangeParameters {
  const requested = parameters.get('requested_token_type')
  if (requested !== undefined && requested !== accessTokenType)
    throw refused('requested_token_type_unsupported')
  const subjectToken = {
    token: parameters.require('subject_token'),
    tokenType: readable(parameters.require('subject_token_type'), tokenTypes),
  }
  return {
    subjectToken,
    actorToken: actorToken(parameters, tokenTypes),
    scope: requestedScope(parameters.get('scope')),
    ...targets(parameters.all('resource'), parameters.all('audience')),
  }
}

function actorToken(
  parameters: Parameters,
  tokenTypes: SecurityTokenTypes,
): PresentedSecurityToken | undefined {
  const token = parameters.get('actor_token')
  if (token !== undefined)
    return { token, tokenType: readable(parameters.require('actor_token_type'), tokenTypes) }
  // RFC 8693 2.1: no type without a token.
  if (parameters.get('actor_token_type') !== undefined) throw refused('actor_token_missing')
  return undefined
}

function readable(tokenType: string, tokenTypes: SecurityTokenTypes): string {
  if (tokenType !== accessTokenType && !tokenTypes.has(tokenType))
    throw refused('security_token_type_unsupported')
  return tokenType
}

function requestedScope(text: string | undefined): Scope | undefined {
  if (text === undefined) return undefined
  const scope = parseScope(text)
  if (scope === undefined) throw malformedScope(text)
  return scope
}

// Characters, all targets together: a policy may store them with the token.
const targetsAtMost = 4096

function targets(
  resource: readonly string[],
  audience: readonly string[],
): Pick<ExchangeParameters, 'resource' | 'audience'> {
  if ([...resource, ...audience].join('').length > targetsAtMost) throw refused('targets_too_large')
  // RFC 8693 2.1, RFC 8707 2
  requireResourceUris(resource)
  return { resource, audience }
}
