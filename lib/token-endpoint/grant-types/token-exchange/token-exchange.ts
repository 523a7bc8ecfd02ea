import { invalidRequest } from '../../../protocol/oauth-error'
import type { GrantType, TokenRequest } from '../../grant-type'
import { introspectedHistory } from './exchange-history'
import { exchangeParameters } from './exchange-parameters'
import { exchangedGrant } from './exchanged-grant'
import { readApproval, type ExchangeRequest } from './policy'
import type { SecurityTokenTypes } from './security-token'
import { presentSecurityToken } from './present-security-token'
import { readTokenExchangeOptions, type TokenExchangeOptions } from './token-exchange-options'
import { accessTokenType, tokenExchangeName } from './identifiers'

/**
 * Token exchange (RFC 8693): a client trades a token that it was shown for one to go on with, in the name of its
 * subject. Access tokens of this server are looked up as a guard does; the new one never outlives the tokens that it
 * was exchanged for and never refreshes. It lives on when they are revoked before their time.
 *
 * @throws ConfigurationError
 */
export function tokenExchange(options: TokenExchangeOptions): GrantType {
  const { policy, tokenTypes } = readTokenExchangeOptions(options)
  return {
    name: tokenExchangeName,
    // RFC 8693 2.1: not resource and audience, which may come more than once.
    parameters: [
      'subject_token',
      'subject_token_type',
      'actor_token',
      'actor_token_type',
      'requested_token_type',
      'scope',
    ],
    introspect: introspectedHistory,
    async handle(request) {
      const exchange = await readExchange(request, tokenTypes)
      const answer: unknown = await policy(exchange)
      // RFC 8693 2.2.2: a token that is not acceptable by policy makes the request invalid.
      if (answer === undefined)
        throw invalidRequest('exchange_refused', 'The exchange of the token is not allowed.')
      return {
        grant: exchangedGrant(exchange, readApproval(answer)),
        // RFC 8693 2.2.1: required.
        members: { issued_token_type: accessTokenType },
      }
    },
  }
}

async function readExchange(request: TokenRequest, tokenTypes: SecurityTokenTypes): Promise<ExchangeRequest> {
  const { subjectToken, actorToken, ...asked } = exchangeParameters(request.parameters, tokenTypes)
  const { client } = request
  const subject = await presentSecurityToken(subjectToken, request, tokenTypes)
  if (subject === undefined)
    throw invalidRequest('subject_token_refused', 'The subject token is invalid, expired or revoked.')
  if (actorToken === undefined) return { client, subject, actor: undefined, ...asked }
  const actor = await presentSecurityToken(actorToken, request, tokenTypes)
  if (actor === undefined)
    throw invalidRequest('actor_token_refused', 'The actor token is invalid, expired or revoked.')
  return { client, subject, actor, ...asked }
}
