import { kind } from '../primitives/schema'
import { isRecord, isText } from '../primitives/values'
import { isLanguageTag, lookUpLanguage } from './language-tag'

/**
 * A text for people: the same for all, or one per language tag (RFC 5646), such as `{ en: 'See your photos', de: 'Ihre
 * Fotos ansehen' }`. A person without a listed language sees the first text.
 */
export type Text = string | Readonly<Record<string, string>>

export function isLocalizedText(value: unknown): value is Text {
  if (!isRecord(value)) return isText(value)
  const tags = Object.keys(value)
  return tags.length > 0 && tags.every(isLanguageTag) && Object.values(value).every(isText)
}

export const aLocalizedText = kind(
  isLocalizedText,
  "must be a text, or texts by language, such as { en: 'See your photos', de: 'Ihre Fotos ansehen' }.",
)

export function textIn(text: Text, ranges: readonly string[]): string {
  if (typeof text === 'string') return text
  const tags = Object.keys(text)
  const tag = lookUpLanguage(ranges, tags)?.tag ?? tags[0] ?? ''
  return text[tag] ?? ''
}
