import type { Json } from './json'

/** The data of extensions, each under the name of its extension. */
export type ExtensionData = Readonly<Record<string, Json>>

/** The data that one extension keeps for an access token. Undefined if there is none. */
export interface KeptData {
  /** The data that belongs to the authorization of the token. */
  readonly authorizationData: Json | undefined
  /** The data that belongs to the token itself. */
  readonly tokenData: Json | undefined
}

/** The data that all extensions keep for an access token. */
export interface KeptExtensionData {
  /** The data that belongs to the authorization. */
  readonly extensionData: ExtensionData
  /** The data that belongs to the token itself. */
  readonly tokenExtensionData: ExtensionData
}

/** Picks the data that one extension keeps for an access token. */
export function keptBy(name: string, { extensionData, tokenExtensionData }: KeptExtensionData): KeptData {
  return { authorizationData: dataOf(name, extensionData), tokenData: dataOf(name, tokenExtensionData) }
}

/**
 * The data under this name; undefined if there is none. Reads own members only, because an extension may have a name
 * such as `constructor`.
 */
export function dataOf(name: string, data: ExtensionData): Json | undefined {
  return Object.hasOwn(data, name) ? data[name] : undefined
}

/** Whether no extension keeps data. */
export function isEmpty(data: ExtensionData): boolean {
  return Object.keys(data).length === 0
}
