import { isRecord, isText, isTexts } from '../primitives/values'
import type { Client } from './client'
import type { ConsentFact, DescribedTo, Extension, LoginDefaults } from './extension'
import { type ExtensionData, type KeptExtensionData, ownDataOf } from './extension-data'
import { isJson, type Json } from './json'
import type { TokenType } from './token-type'

/** At these, extensions act one after the other. */
export type Door = 'resolve' | 'authorize' | 'checkOwner' | 'askOwner' | 'respond' | 'describe'

export type At<Name extends Door> = Extension & Required<Pick<Extension, Name>>

/** In the order of the option `plugins`, but at `resolve` those with `prepare` last. */
export type ActingExtensions = Readonly<{ [Name in Door]: readonly At<Name>[] }>

/** Of several, the last one wins. */
export function described(
  extensions: readonly Pick<Extension, 'name' | 'describe'>[],
  data: KeptExtensionData,
  to: DescribedTo,
): Readonly<Record<string, Json>> {
  return Object.assign({}, ...extensions.map((each) => each.describe?.(ownDataOf(each.name, data), to)))
}

/** Those of a registration, or stored ones. */
export function loginDefaultsIn(value: unknown): LoginDefaults | undefined {
  if (!isRecord(value)) return undefined
  const { maxAge, acrValues } = value
  return { ...(typeof maxAge === 'number' && { maxAge }), ...(isTexts(acrValues) && { acrValues }) }
}

// A URI stays as it is.
const wordsOf = (name: string) => (/^\w+$/.test(name) ? name.replaceAll('_', ' ') : name)

export function claimsFact(names: readonly string[]): readonly ConsentFact[] {
  const values = names.map((value) => ({ value, description: wordsOf(value) }))
  return values.length === 0 ? [] : [{ name: 'claims', label: 'About you', values }]
}

/** The owner's identifier for one client. @throws TypeError if the extension returns no text. */
export type PublishedSubject = (subject: string, client: Client) => string

export function publishedSubjectBy(extensions: readonly Extension[]): PublishedSubject | undefined {
  const extension = extensions.find((each) => each.publishedSubject !== undefined)
  if (extension === undefined) return undefined
  return (subject, client) => {
    const published: unknown = extension.publishedSubject?.(subject, client)
    if (isText(published)) return published
    throw new TypeError(`The extension "${extension.name}" must return a text as the subject for a client.`)
  }
}

// RFC 7800 3.1: `cnf` names the key or certificate of a bound token. Each member is a confirmation method, such as
// `jkt` (RFC 9449 6) or `x5t#S256` (RFC 8705 3.1): the token data of a token type or extension.

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

export interface Confirmation {
  /** `bearer` if an extension checks the proof, or there is none. */
  readonly tokenType: string
  readonly tokenData: Json | undefined
  readonly tokenExtensionData: ExtensionData
}

export const unbound: Confirmation = { tokenType: 'bearer', tokenData: undefined, tokenExtensionData: {} }

/**
 * Undefined if a confirmation stays unchecked. RFC 7800 3.1 lets a recipient ignore it, but then a thief may use the
 * token.
 */
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
