import { isRecord, OptionsReader } from '../../../protocol/configuration'
import { invalidRequest } from '../../../protocol/oauth-error'
import { isAbsoluteUri } from '../../../protocol/uri'
import type { GrantType, TokenRequest } from '../../grant-type'
import {
  accessTokenType,
  exchangeParameters,
  refreshTokenType,
  tokenExchangeName,
} from './exchange-parameters'
import {
  exchangedGrant,
  type ExchangePolicy,
  type ExchangeRequest,
  introspectedHistory,
  readApproval,
} from './policy'
import { presentSecurityToken, type SecurityTokenTypes, type VerifySecurityToken } from './security-token'

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

/** Options of `tokenExchange`. */
export interface TokenExchangeOptions {
  /** Decides about every exchange; there is no default, because nobody but the host can know. */
  readonly policy: ExchangePolicy
  /**
   * What verifies tokens that are not of this server, by token type identifier, such as
   * `urn:ietf:params:oauth:token-type:jwt`. Default: none is accepted.
   */
  readonly tokenTypes?: Readonly<Record<string, VerifySecurityToken>>
}

/** The options, complete and proven. */
export interface TokenExchangeSettings {
  readonly policy: ExchangePolicy
  readonly tokenTypes: SecurityTokenTypes
}

/** @throws ConfigurationError that lists every mistake. */
export function readTokenExchangeOptions(options: unknown): TokenExchangeSettings {
  const reading = new OptionsReader(options, '')
  const policy = reading.required<ExchangePolicy>(
    'policy',
    () => undefined,
    isPolicy,
    'must be a function that decides about an exchange.',
  )
  const tokenTypes = readTokenTypes(reading)
  reading.refuseUnknown()
  reading.settle('tokenExchange() cannot work with these options:')
  return { policy, tokenTypes }
}

function readTokenTypes(reading: OptionsReader): SecurityTokenTypes {
  const cure = 'must be an object from token type identifiers to functions.'
  const read = new Map<string, VerifySecurityToken>()
  for (const [tokenType, verify] of Object.entries(reading.optional('tokenTypes', {}, isRecord, cure))) {
    const message = problemOf(tokenType)
    if (message !== undefined) reading.wrong(`tokenTypes["${tokenType}"]`, message)
    else if (isVerify(verify)) read.set(tokenType, verify)
    else
      reading.wrong(
        `tokenTypes["${tokenType}"]`,
        'must be a function that returns the claims of a good token.',
      )
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

const isPolicy = (value: unknown): value is ExchangePolicy => typeof value === 'function'
const isVerify = (value: unknown): value is VerifySecurityToken => typeof value === 'function'
