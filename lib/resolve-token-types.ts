import { isRecord, isText, type OptionsReader } from './protocol/configuration'
import type { TokenType, TokenTypes } from './protocol/token-type'
import { bearer } from './token-types/bearer'

const tokenTypesOption = 'tokenTypes'
const tokenTypesMessage =
  'must be a list of token types, such as mac({ hosts }): name, scheme, read, perhaps issue.'

/** Reads the token types of a server or a guard: `bearer`, which is always there and first, and what the host adds. */
export function resolveTokenTypes(reading: OptionsReader): readonly TokenType[] {
  const types = [bearer]
  for (const [index, type] of reading
    .optional(tokenTypesOption, [], isTokenTypes, tokenTypesMessage)
    .entries()) {
    const wrong = (field: string, message: string) =>
      reading.wrong(`${tokenTypesOption}[${index}].${field}`, message)
    if (!isTokenTypeName(type.name))
      wrong('name', `is "${type.name}", but must be letters, digits and . _ -, or an absolute URI.`)
    else if (types.some(({ name }) => name === type.name))
      wrong('name', `is "${type.name}", which another token type has already.`)
    if (!isScheme(type.scheme)) wrong('scheme', `is "${type.scheme}", which is no name of an HTTP scheme.`)
    else if (types.some(({ scheme }) => scheme.toLowerCase() === type.scheme.toLowerCase()))
      wrong('scheme', `is "${type.scheme}", which another token type has already, in whatever case.`)
    types.push(type)
  }
  return Object.freeze(types)
}

/** Reads which of them a client gets that names none. */
export function resolveDefaultTokenType(reading: OptionsReader, types: readonly TokenType[]): string {
  const names = types.map(({ name }) => name)
  const isOffered = (value: unknown): value is string => isText(value) && names.includes(value)
  return reading.optional('tokenType', bearer.name, isOffered, `must be one of ${names.join(', ')}.`)
}

export function byName(types: readonly TokenType[]): TokenTypes {
  return new Map(types.map((type) => [type.name, type]))
}

// RFC 6749 8.1 and A.13: a registered name, or the URI of a type of one's own.
const isTokenTypeName = (name: string) =>
  /^[\w.-]+$/.test(name) || (/^[\w+.-]+:[!-~]+$/.test(name) && URL.canParse(name))
// RFC 9110 11.1 and 5.6.2
const isScheme = (scheme: string) => /^[\w!#$%&'*+.^`|~-]+$/.test(scheme)
const isTokenTypes = (value: unknown): value is readonly TokenType[] =>
  Array.isArray(value) && value.every(isTokenType)
const isTokenType = (value: unknown): value is TokenType =>
  isRecord(value) &&
  isText(value['name']) &&
  isText(value['scheme']) &&
  typeof value['read'] === 'function' &&
  (value['issue'] === undefined || typeof value['issue'] === 'function')
