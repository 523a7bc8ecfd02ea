import {
  lookUpLanguage,
  parseAcceptLanguage,
  parseUiLocales,
  type Text,
  textIn,
} from '../../protocol/localized-text'
import type { PageFrame } from '../html'
import { styleSourceOf } from '../stylesheet'
import ar from './ar.json'
import de from './de.json'
import english from './en.json'
import es from './es.json'
import fr from './fr.json'
import ja from './ja.json'

// The declarations of the package name texts, no file of data.
const named = <Texts>(texts: Texts): { readonly [Part in keyof Texts]: Texts[Part] } => texts

/** A name, a host or a link stands for `{}`. */
export const en = named(english)

/** Each language has `{}` where English has it. */
export type PageTexts = typeof en

export const pageLanguages = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const

export type PageLanguage = (typeof pageLanguages)[number]

export const catalogues: Readonly<Record<PageLanguage, PageTexts>> = { en, de, fr, es, ja, ar }

/** One language, and what a page says in it. */
export interface PageLocale extends PageFrame {
  readonly texts: PageTexts
  /** In this language, or else in the next best one. */
  readonly pick: (text: Text) => string
}

interface PageService {
  readonly name: Text | undefined
  readonly logo: string | undefined
  readonly colors: string
}

export type PageLocales = ReturnType<typeof createPageLocales>

export function createPageLocales(
  languages: readonly PageLanguage[],
  texts: Readonly<Record<PageLanguage, PageTexts>>,
  service: PageService,
) {
  const localeOf = (language: PageLanguage, range: string): PageLocale => {
    const ranges = [range, language, ...languages]
    const pick = (text: Text) => textIn(text, ranges)
    const { name, logo } = service
    return {
      tag: language,
      dir: language === 'ar' ? 'rtl' : 'ltr',
      texts: texts[language],
      pick,
      service: { name: name === undefined ? undefined : pick(name), logo },
      stylesheet: service.colors,
    }
  }
  const [first = 'en'] = languages
  return {
    styleSource: styleSourceOf(service.colors),
    /** RFC 4647 3.4: by `ui_locales`, then `Accept-Language`, at most 20 of each. */
    choose(uiLocales: string | undefined, acceptLanguage: string | undefined): PageLocale {
      const found =
        lookUpLanguage(parseUiLocales(uiLocales), languages) ??
        lookUpLanguage(parseAcceptLanguage(acceptLanguage), languages)
      return found === undefined ? localeOf(first, first) : localeOf(found.tag, found.range)
    },
  }
}
