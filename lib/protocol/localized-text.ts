import { kind } from '../primitives/schema'
import { isRecord, isText } from '../primitives/values'

// Nobody reads more languages, and each one costs a comparison.
const charactersRead = 1000
const rangesRead = 20

const languageTag = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,7}$/i

/** RFC 5646 2.1, in outline. */
export const isLanguageTag = (value: unknown): value is string =>
  typeof value === 'string' && languageTag.test(value)

/** RFC 9110 12.5.4, the best first, without what is malformed, `*` or of weight 0. */
export function parseAcceptLanguage(header: string | undefined): readonly string[] {
  if (header === undefined) return []
  return header
    .slice(0, charactersRead)
    .split(',', rangesRead)
    .map((item) => {
      const [range = '', weight] = item.split(';', 2)
      return { range: range.trim(), quality: qualityOf(weight) }
    })
    .filter(({ range, quality }) => quality > 0 && isLanguageTag(range))
    .toSorted((one, other) => other.quality - one.quality)
    .map(({ range }) => range)
}

const weightForm = /^\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i

function qualityOf(weight: string | undefined): number {
  if (weight === undefined) return 1
  return Number(weightForm.exec(weight)?.[1] ?? 0)
}

/** OpenID Connect Core 3.1.2.1, the best first. */
export function parseUiLocales(value: string | undefined): readonly string[] {
  if (value === undefined) return []
  return value.slice(0, charactersRead).split(' ', rangesRead).filter(isLanguageTag)
}

/** RFC 4647 3.4: each range in order, shortened from its end. The tag is as the list writes it. */
export function lookUpLanguage<Tag extends string>(ranges: readonly string[], available: readonly Tag[]) {
  for (const range of ranges) {
    for (let rest = range.toLowerCase(); rest !== ''; rest = shortened(rest)) {
      const tag = available.find((one) => one.toLowerCase() === rest)
      if (tag !== undefined) return { tag, range }
    }
  }
  return undefined
}

// A subtag of one character goes with the next one.
const shortened = (range: string) => range.replace(/(?:-[a-z0-9])?-?[a-z0-9]*$/, '')

/**
 * For people: the same for all, or one per language tag (RFC 5646), such as `{ en: 'See your photos', de: 'Ihre Fotos
 * ansehen' }`. The first is for all other languages.
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
