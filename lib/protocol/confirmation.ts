import { isRecord, isText } from '../primitives/values'
import type { Extension } from './extension'
import { type KeptExtensionData, ownDataOf } from './extension-data'
import { isJson, type Json } from './json'
import type { TokenType } from './token-type'

// RFC 7800 3.1: `cnf` names the key of a bound token. Each member, such as `jkt` (RFC 9449 6), is the token data of a
// token type or extension.

export interface Confirming {
  readonly tokenTypes: readonly TokenType[]
  readonly extensions: readonly Extension[]
}

interface KeptToken extends KeptExtensionData {
  readonly tokenType: string
  readonly tokenData: Json | undefined
}

export function withConfirmation(
  members: Readonly<Record<string, Json>>,
  { tokenTypes, extensions }: Confirming,
  { tokenType, tokenData, ...kept }: KeptToken,
): Readonly<Record<string, Json>> {
  const type = tokenTypes.find(({ name }) => name === tokenType)
  const rows: readonly (readonly [string | undefined, Json | undefined])[] = [
    [type?.confirmationMethod, tokenData],
    ...extensions.map((one) => [one.confirmationMethod, ownDataOf(one.name, kept).tokenData] as const),
  ]
  const known = rows.flatMap(([method, data]) =>
    method === undefined || data === undefined ? [] : [[method, data] as const],
  )
  if (known.length === 0) return members
  const { cnf } = members
  return { ...members, cnf: { ...(isRecord(cnf) && cnf), ...Object.fromEntries(known) } }
}

/** `tokenType` is `bearer` if an extension checks the proof, or there is none. */
export type Confirmation = Pick<KeptToken, 'tokenType' | 'tokenData' | 'tokenExtensionData'>

export const unbound: Confirmation = { tokenType: 'bearer', tokenData: undefined, tokenExtensionData: {} }

/** Undefined if one stays unchecked: RFC 7800 3.1 lets a recipient ignore it, but then a thief may use the token. */
export function readConfirmation(
  { tokenTypes, extensions }: Confirming,
  cnf: unknown,
): Confirmation | undefined {
  if (cnf === undefined) return unbound
  const members = isRecord(cnf) ? Object.entries(cnf) : []
  if (members.length === 0) return undefined
  let typed: Pick<Confirmation, 'tokenType' | 'tokenData'> | undefined
  const ofExtensions: (readonly [string, Json])[] = []
  for (const [method, data] of members) {
    const type = tokenTypes.find((one) => one.confirmationMethod === method)
    const checking = extensions.filter((one) => one.confirmationMethod === method)
    if (type === undefined && checking.length === 0) return undefined
    if (!(isText(data) || isRecord(data)) || !isJson(data)) return undefined
    // A request has one scheme.
    if (type !== undefined && typed !== undefined) return undefined
    if (type !== undefined) typed = { tokenType: type.name, tokenData: data }
    for (const { name } of checking) ofExtensions.push([name, data])
  }
  return { ...unbound, ...typed, tokenExtensionData: Object.fromEntries(ofExtensions) }
}
