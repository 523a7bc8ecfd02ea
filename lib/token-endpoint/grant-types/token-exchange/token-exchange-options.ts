import { isRecord, OptionsReader } from '../../../protocol/configuration'
import { isAbsoluteUri } from '../../../protocol/uri'
import type { ExchangePolicy } from './policy'
import type { SecurityTokenTypes, VerifySecurityToken } from './security-token'
import { accessTokenType, refreshTokenType } from './identifiers'

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
