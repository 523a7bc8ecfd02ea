import { isText } from '../primitives/values'
import { dataOf, type ExtensionData } from './extension-data'
import { protocolOf } from './uri'

export interface ResponseTypeDescription {
  /** Of `response_type`: values with one space between, in any order. */
  readonly name: string
  /** What a client must register to use it (RFC 7591 2.1). */
  readonly grantTypes: readonly string[]
}

// RFC 6749 appendix A.3.
const grammar = /^\w+(?: \w+)*$/

export function isResponseTypeName(name: string): boolean {
  const values = name.split(' ')
  return grammar.test(name) && new Set(values).size === values.length
}

/** RFC 6749 3.1.1. */
export const canonicalResponseType = (name: string): string =>
  name.includes(' ') ? name.split(' ').toSorted().join(' ') : name

export function responseTypeNamed<Type extends ResponseTypeDescription>(
  name: string,
  types: readonly Type[],
): Type | undefined {
  const wanted = canonicalResponseType(name)
  return types.find((type) => canonicalResponseType(type.name) === wanted)
}

/**
 * A mode besides `query` and `fragment` (OAuth 2.0 Multiple Response Type Encoding Practices 2.1). A request names it
 * in `response_mode`, for every response type, errors too.
 */
export interface ResponseMode {
  /** Of `response_mode`: lower-case letters, digits, `_` and `.`. */
  readonly name: string
  /** The user agent posts a form to the redirection URI, from a page of this server. */
  readonly carrier: 'form'
}

export interface NamedMode {
  readonly name: string
  readonly carrier: ResponseMode['carrier'] | 'fragment'
}

/** Without `query`: it never carries a token. */
export type NamedModes = ReadonlyMap<string, NamedMode>

const fragment: NamedMode = { name: 'fragment', carrier: 'fragment' }

export const namedModes = (ofPlugins: readonly ResponseMode[]): NamedModes =>
  new Map([fragment, ...ofPlugins].map((mode) => [mode.name, mode]))

/** A browser posts no form to an app with a scheme of its own. */
export function namedMode(
  modes: NamedModes,
  name: string | undefined,
  redirectUri: string,
): NamedMode | undefined {
  const mode = name === undefined ? undefined : modes.get(name)
  return mode?.carrier !== 'form' || /^https?:$/.test(protocolOf(redirectUri)) ? mode : undefined
}

/** No extension may have the name. */
export const responseModeName = 'response-mode'

export const withMode = (data: ExtensionData, mode: NamedMode | undefined): ExtensionData =>
  mode === undefined ? data : { ...data, [responseModeName]: mode.name }

export function modeIn(data: ExtensionData, modes: NamedModes): NamedMode | undefined {
  const name = dataOf(responseModeName, data)
  return isText(name) ? modes.get(name) : undefined
}
