import { kind } from '../primitives/schema'
import { isRecord, isText, isTexts } from '../primitives/values'

/** Under the registered names. */
export type ExtensionMetadata = Readonly<Record<string, string | boolean | readonly string[]>>

export function isExtensionMetadata(value: unknown): value is ExtensionMetadata {
  return (
    isRecord(value) &&
    Object.values(value).every((member) => isText(member) || typeof member === 'boolean' || isTexts(member))
  )
}

export const extensionMetadata = kind(
  isExtensionMetadata,
  'must be an object of texts, lists of texts and booleans.',
)
