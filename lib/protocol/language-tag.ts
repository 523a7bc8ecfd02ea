// The server reads this much of a list of languages, and ignores the rest: nobody reads more languages, and each one
// costs a comparison.
const charactersRead = 1000
const rangesRead = 20

const languageTag = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,7}$/i

/** Whether a text has the form of a language tag, such as `de` or `pt-BR` (RFC 5646 2.1, in its outline). */
export const isLanguageTag = (value: unknown): value is string =>
  typeof value === 'string' && languageTag.test(value)

/**
 * Reads the header `Accept-Language` (RFC 9110 12.5.4): the languages that a person can read, the best first. Ignores
 * what is malformed, `*`, and languages with the weight 0.
 *
 * @param header reads at most 1,000 characters and 20 languages.
 */
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

/** Reads the parameter `ui_locales` (OpenID Connect Core 3.1.2.1): language tags, the best first. */
export function parseUiLocales(value: string | undefined): readonly string[] {
  if (value === undefined) return []
  return value.slice(0, charactersRead).split(' ', rangesRead).filter(isLanguageTag)
}

/** What a lookup found. */
interface FoundLanguage<Tag extends string> {
  /** The tag as the list writes it. */
  readonly tag: Tag
  /** The range that asked for it, such as `de-AT` for the tag `de`. */
  readonly range: string
}

/**
 * Looks up the best of the available languages (RFC 4647 3.4): each range in its order, shortened from its end until a
 * tag is equal. Undefined if no range leads to a tag.
 */
export function lookUpLanguage<Tag extends string>(
  ranges: readonly string[],
  available: readonly Tag[],
): FoundLanguage<Tag> | undefined {
  for (const range of ranges) {
    for (let rest = range.toLowerCase(); rest !== ''; rest = shortened(rest)) {
      const tag = available.find((one) => one.toLowerCase() === rest)
      if (tag !== undefined) return { tag, range }
    }
  }
  return undefined
}

// A subtag of one character introduces the next one, and goes together with it.
const shortened = (range: string) => range.replace(/(?:-[a-z0-9])?-?[a-z0-9]*$/, '')
