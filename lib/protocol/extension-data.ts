import type { Json } from './json'

/** The results of `prepare` by the name of the extension. A map: an extension may be named `constructor`. */
export type Evidence = ReadonlyMap<string, unknown>

export const noEvidence: Evidence = new Map()

export type ExtensionData = Readonly<Record<string, Json>>

/** What one extension stores for an access token; undefined without data. */
export interface KeptData {
  /** Belongs to the authorization of the token. */
  readonly authorizationData: Json | undefined
  /** Belongs to the token itself. */
  readonly tokenData: Json | undefined
  /** All that a token says by itself, or its introspection, where a guard has read no record. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

export interface KeptExtensionData {
  /** Belongs to the authorization. */
  readonly extensionData: ExtensionData
  /** Belongs to the token itself. */
  readonly tokenExtensionData: ExtensionData
  readonly claims?: KeptData['claims']
}

export function ownDataOf(
  name: string,
  { extensionData, tokenExtensionData, claims }: KeptExtensionData,
): KeptData {
  return {
    authorizationData: dataOf(name, extensionData),
    tokenData: dataOf(name, tokenExtensionData),
    claims,
  }
}

/** Own members only: an extension may be named `constructor`. */
export const dataOf = (name: string, data: ExtensionData): Json | undefined =>
  Object.hasOwn(data, name) ? data[name] : undefined

export const withOwn = (name: string, own: Json | undefined, data: ExtensionData): ExtensionData =>
  own === undefined ? data : { ...data, [name]: own }

export function isEmpty(data: ExtensionData): boolean {
  for (const name in data) if (Object.hasOwn(data, name)) return false
  return true
}
