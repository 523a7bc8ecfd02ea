import { isRecord, isText, isTexts, type OptionsReader } from './protocol/configuration'
import { isAbsoluteUri } from './protocol/uri'
import type { GrantType } from './token-endpoint/grant-type'

const grantTypesOption = 'grantTypes'
const grantTypesMessage =
  'must be a list of grant types, such as password({ verify }): name, parameters and handle.'

/** The grant types that every token endpoint has. */
export const builtInGrantTypes: readonly string[] = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
]

/** Reads the grant types that the host adds. */
export function resolveGrantTypes(reading: OptionsReader): readonly GrantType[] {
  // RFC 6749 4.2: implicit has no place at the token endpoint.
  const taken = new Set([...builtInGrantTypes, 'implicit'])
  const given = reading.optional(grantTypesOption, [], isGrantTypes, grantTypesMessage)
  for (const [index, { name }] of given.entries()) {
    const wrong = (message: string) =>
      reading.wrong(`${grantTypesOption}[${index}].name`, `is "${name}", ${message}`)
    if (taken.has(name)) wrong('which another grant type has already.')
    // RFC 6749 4.5: only a URI is sure to mean this grant type to nobody else.
    else if (name !== 'password' && !isAbsoluteUri(name))
      wrong('but must be an absolute URI, such as https://example.com/oauth/grants/voucher.')
    taken.add(name)
  }
  return Object.freeze([...given])
}

const isGrantTypes = (value: unknown): value is readonly GrantType[] =>
  Array.isArray(value) && value.every(isGrantType)
const isGrantType = (value: unknown): value is GrantType =>
  isRecord(value) &&
  isText(value['name']) &&
  isTexts(value['parameters']) &&
  typeof value['handle'] === 'function' &&
  ['function', 'undefined'].includes(typeof value['introspect'])
