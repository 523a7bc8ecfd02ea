import { isText } from '../primitives/options-reader'
import { dataOf, type ExtensionData } from '../protocol/extension-data'
import { protocolOf } from '../protocol/uri'

/**
 * A mode that a plug-in adds to `query` and `fragment` (OAuth 2.0 Multiple Response Type Encoding Practices 2.1). A
 * request names it in `response_mode`. The mode then carries the response of every response type, errors too.
 */
export interface ResponseMode {
  /** The value of `response_mode`: lower-case letters, digits, `_` and `.`. */
  readonly name: string
  /** How the parameters travel: in a form that the user agent posts to the redirection URI, from a page of this server. */
  readonly carrier: 'form'
}

/** A mode that a request may name in place of the mode of its response type. */
export interface NamedMode {
  readonly name: string
  readonly carrier: ResponseMode['carrier'] | 'fragment'
}

/** The modes that a request may name, by name. `query` is none: it never carries a token. */
export type NamedModes = ReadonlyMap<string, NamedMode>

const fragment: NamedMode = { name: 'fragment', carrier: 'fragment' }

/** The modes that requests to a server with these modes of plug-ins may name. */
export const namedModes = (ofPlugIns: readonly ResponseMode[]): NamedModes =>
  new Map([fragment, ...ofPlugIns].map((mode) => [mode.name, mode]))

/**
 * The mode that a request names, for its redirection URI; undefined if there is no such mode, or the URI cannot take it: a
 * browser posts no form to an app with a scheme of its own.
 */
export function namedMode(
  modes: NamedModes,
  name: string | undefined,
  redirectUri: string,
): NamedMode | undefined {
  const mode = name === undefined ? undefined : modes.get(name)
  return mode?.carrier !== 'form' || /^https?:$/.test(protocolOf(redirectUri)) ? mode : undefined
}

/** The record keeps under this name the mode that the request names. No extension may have the name. */
export const responseModeName = 'response-mode'

/** Adds the mode to the data of a record. Without a named mode, the data stay as they are. */
export function withMode(data: ExtensionData, mode: NamedMode | undefined): ExtensionData {
  return mode === undefined ? data : { ...data, [responseModeName]: mode.name }
}

/** The mode in the data of a record; undefined for the mode of the response type. */
export function modeIn(data: ExtensionData, modes: NamedModes): NamedMode | undefined {
  const name = dataOf(responseModeName, data)
  return isText(name) ? modes.get(name) : undefined
}
