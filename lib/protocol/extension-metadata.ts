import { isRecord, isText, isTexts } from '../primitives/options-reader'

/** Members of the metadata, under the registered names. */
export type ExtensionMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

/** Whether the value is an object of members that the metadata may have. */
export function isExtensionMetadata(value: unknown): value is ExtensionMetadata {
  return (
    isRecord(value) &&
    Object.values(value).every((member) => isText(member) || typeof member === 'boolean' || isTexts(member))
  )
}
