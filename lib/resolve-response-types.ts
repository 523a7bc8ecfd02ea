import type { ResponseType } from './authorization-endpoint/response-type'
import { codeResponseType } from './authorization-endpoint/response-types/code'
import { isRedirectMethod } from './authorization-endpoint/response-types/implicit'
import { isRecord, isText, isTexts, type OptionsReader } from './protocol/configuration'
import { isResponseTypeName, responseTypeNamed } from './protocol/response-type'

const responseTypesOption = 'responseTypes'
const responseTypesMessage =
  'must be a list of response types, such as implicit(): name, grantTypes, mode, perhaps redirectBy, and approve.'

/** Reads the response types of a server: `code`, which it always has, and what the host adds. */
export function resolveResponseTypes(reading: OptionsReader): readonly ResponseType[] {
  const types = [codeResponseType]
  for (const [index, type] of reading
    .optional(responseTypesOption, [], isResponseTypes, responseTypesMessage)
    .entries()) {
    const wrong = (message: string) =>
      reading.wrong(`${responseTypesOption}[${index}].name`, `is "${type.name}", ${message}`)
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
