import type { ResponseType } from './authorization-endpoint/response-type'
import { codeResponseType } from './authorization-endpoint/response-types/code'
import { isRedirectMethod } from './authorization-endpoint/response-types/implicit'
import { isRecord, isText, isTexts, type Reading } from './protocol/configuration'
import { isResponseTypeName, responseTypeNamed } from './protocol/response-type'

const key = 'responseTypes'
const cure =
  'must be a list of response types, such as implicit(): name, grantTypes, mode, perhaps redirectBy, and approve.'

/** Reads the response types of a server: `code`, which it always has, and what the host adds. */
export function resolveResponseTypes(reading: Reading): readonly ResponseType[] {
  const types = [codeResponseType]
  for (const [index, type] of reading.optional(key, [], isResponseTypes, cure).entries()) {
    const wrong = (problem: string) => reading.wrong(`${key}[${index}].name`, `is "${type.name}", ${problem}`)
    if (!isResponseTypeName(type.name))
      wrong('but must be letters, digits and _; several values, each once, with one space between two.')
    else if (responseTypeNamed(type.name, types) !== undefined)
      wrong('which another response type has already, in whatever order.')
    else types.push(type)
  }
  return Object.freeze(types)
}

const isResponseTypes = (value: unknown): value is readonly ResponseType[] =>
  Array.isArray(value) && value.every(isResponseType)
const isResponseType = (value: unknown): value is ResponseType =>
  isRecord(value) &&
  isText(value['name']) &&
  isTexts(value['grantTypes']) &&
  (value['mode'] === 'query' || value['mode'] === 'fragment') &&
  (value['redirectBy'] === undefined || isRedirectMethod(value['redirectBy'])) &&
  typeof value['approve'] === 'function'
