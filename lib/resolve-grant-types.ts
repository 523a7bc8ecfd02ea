import { isRecord, isText, isTexts, type Reading } from './protocol/configuration'
import { isAbsoluteUri } from './protocol/uri'
import type { GrantType } from './token-endpoint/grant-type'

const key = 'grantTypes'
const cure = 'must be a list of grant types, such as password({ verify }): name, parameters and prove.'

/** The grant types that every token endpoint has. */
export const builtInGrantTypes: readonly string[] = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
]

/** Reads the grant types that the host adds. */
export function resolveGrantTypes(reading: Reading): readonly GrantType[] {
  // RFC 6749 4.2: implicit has no place at the token endpoint.
  const taken = new Set([...builtInGrantTypes, 'implicit'])
  const given = reading.optional(key, [], isGrantTypes, cure)
  for (const [index, { name }] of given.entries()) {
    const wrong = (problem: string) => reading.wrong(`${key}[${index}].name`, `is "${name}", ${problem}`)
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
  typeof value['prove'] === 'function' &&
  ['function', 'undefined'].includes(typeof value['introspect'])
