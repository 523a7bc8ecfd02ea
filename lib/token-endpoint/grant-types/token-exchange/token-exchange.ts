import { isRecord } from '../../../primitives/values'
import { aCall } from '../../../primitives/fields'
import { type Fields, kind, needed, optional, type Place, readOptions } from '../../../primitives/schema'
import type { FoundAccess } from '../../../authorization/lookup'
import { refused } from '../../../protocol/refusals'
import { isAbsoluteUri } from '../../../protocol/uri'
import type { Plugin } from '../../../doors/plug-in'
import type { GrantType, TokenRequest } from '../../../authorization/grant-type'
import { introspectedHistory, tokenExchangeName } from './exchange-history'
import {
  accessTokenType,
  exchangeParameters,
  presentSecurityToken,
  refreshTokenType,
  type SecurityTokenTypes,
  type VerifySecurityToken,
} from './security-token'
import { exchangedGrant, type ExchangePolicy, type ExchangeRequest, readApproval } from './policy'

/**
 * Token exchange, `urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693): a client exchanges a token that
 * it received for an access token of this server. The policy decides in whose name. The server looks up its own
 * access tokens as a guard does. The new token has no refresh token, expires no later than the exchanged
 * tokens, and outlives their revocation.
 *
 * @throws ConfigurationError if an option is wrong.
 */
export function tokenExchange(options: TokenExchangeOptions): Plugin {
  const { policy, tokenTypes } = readOptions('tokenExchange()', fields, options)
  const grantType: GrantType = {
    name: tokenExchangeName,
    // RFC 8693 2.1: a request may repeat `resource` and `audience`.
    parameters:
      'subject_token subject_token_type actor_token actor_token_type requested_token_type scope'.split(' '),
    refreshTokens: false,
    introspect: introspectedHistory,
    async handle(request) {
      const { exchange, subjectToken } = await readExchange(request, tokenTypes)
      const answer: unknown = await policy(exchange)
      // RFC 8693 2.2.2.
      if (answer === undefined) throw refused('exchange_refused')
      return {
        grant: exchangedGrant(exchange, readApproval(answer), subjectToken),
        // RFC 8693 2.2.1: a required member.
        members: { issued_token_type: accessTokenType },
      }
    },
  }
  return { name: 'token-exchange', grantTypes: [grantType] }
}

async function readExchange(
  request: TokenRequest,
  tokenTypes: SecurityTokenTypes,
): Promise<{ readonly exchange: ExchangeRequest; readonly subjectToken: FoundAccess | undefined }> {
  const { subjectToken, actorToken, ...asked } = exchangeParameters(request.parameters, tokenTypes)
  const { client } = request
  const subject = await presentSecurityToken(subjectToken, request, tokenTypes)
  if (subject === undefined) throw refused('subject_token_refused')
  const actor = actorToken && (await presentSecurityToken(actorToken, request, tokenTypes))
  if (actorToken !== undefined && actor === undefined) throw refused('actor_token_refused')
  return {
    exchange: { client, subject: subject.content, actor: actor?.content, ...asked },
    subjectToken: subject.access,
  }
}

export interface TokenExchangeOptions {
  /** No default: only the host knows what to allow. */
  readonly policy: ExchangePolicy
  /**
   * Verify the tokens of other parties, by token type identifier: an absolute URI, such as
   * `urn:ietf:params:oauth:token-type:jwt`. Default: only this server's own access tokens.
   */
  readonly tokenTypes?: Readonly<Record<string, VerifySecurityToken>>
}

const fields = {
  policy: needed(
    () => undefined,
    aCall<ExchangePolicy>('must be a function that decides about an exchange.'),
  ),
  tokenTypes: securityTokenTypes,
} satisfies Fields<TokenExchangeOptions>

const verifiers = kind(isRecord, 'must be an object from token type identifiers to functions.')
const verifier = aCall<VerifySecurityToken>('must be a function that returns the claims of a good token.')

function securityTokenTypes(given: unknown, at: Place, name: string): SecurityTokenTypes {
  const read = new Map<string, VerifySecurityToken>()
  for (const [tokenType, verify] of Object.entries(optional(verifiers)(given, at, name) ?? {})) {
    const path = `${name}["${tokenType}"]`
    const problem = problemOf(tokenType)
    if (problem !== undefined) at.wrong(path, problem)
    else read.set(tokenType, needed(() => undefined, verifier)(verify, at, path))
  }
  return read
}

function problemOf(tokenType: string): string | undefined {
  if (tokenType === accessTokenType) return 'is verified by the server itself: remove it.'
  if (tokenType === refreshTokenType)
    return 'is never accepted, because a refresh token is good at its own grant only: remove it.'
  if (!isAbsoluteUri(tokenType))
    return 'must be an absolute URI, such as urn:ietf:params:oauth:token-type:jwt.'
  return undefined
}
