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

/** The modes that plug-ins add, by name. */
export type ResponseModes = ReadonlyMap<string, ResponseMode>

/**
 * The mode that a request names, for its redirection URI; undefined if no plug-in adds such a mode, or the URI cannot take
 * it: a browser posts no form to an app with a scheme of its own.
 */
export function addedMode(
  modes: ResponseModes,
  name: string | undefined,
  redirectUri: string,
): ResponseMode | undefined {
  if (name === undefined || modes.size === 0) return undefined
  return /^https?:$/.test(protocolOf(redirectUri)) ? modes.get(name) : undefined
}

/** The record keeps under this name the mode that a plug-in adds. No extension may have the name. */
export const responseModeName = 'response-mode'

/** Adds the mode to the data of a record. Without a mode of a plug-in, the data stay as they are. */
export function withMode(data: ExtensionData, mode: ResponseMode | undefined): ExtensionData {
  return mode === undefined ? data : { ...data, [responseModeName]: mode.name }
}

/** The mode in the data of a record; undefined for the mode of the response type. */
export function modeIn(data: ExtensionData, modes: ResponseModes): ResponseMode | undefined {
  if (modes.size === 0) return undefined
  const name = dataOf(responseModeName, data)
  return isText(name) ? modes.get(name) : undefined
}
