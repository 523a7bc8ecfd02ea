import type { Json } from './json'

/** Results of `prepare` by extension. A map: an extension may be named `constructor`. */
export type Evidence = ReadonlyMap<string, unknown>

export const noEvidence: Evidence = new Map()

export type ExtensionData = Readonly<Record<string, Json>>

/** Of one extension; undefined without data. */
export interface KeptData {
  readonly authorizationData: Json | undefined
  readonly tokenData: Json | undefined
  /** All that a token or its introspection says, where a guard has read no record. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
}

export interface KeptExtensionData {
  readonly extensionData: ExtensionData
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

/** An extension may be named `constructor`. */
export const dataOf = (name: string, data: ExtensionData): Json | undefined =>
  Object.hasOwn(data, name) ? data[name] : undefined

export const withOwn = (name: string, own: Json | undefined, data: ExtensionData): ExtensionData =>
  own === undefined ? data : { ...data, [name]: own }

export function isEmpty(data: ExtensionData): boolean {
  for (const name in data) if (Object.hasOwn(data, name)) return false
  return true
}
