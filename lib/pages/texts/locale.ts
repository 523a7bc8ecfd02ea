import {
  lookUpLanguage,
  parseAcceptLanguage,
  parseUiLocales,
  type Text,
  textIn,
} from '../../protocol/localized-text'
import type { PageFrame } from '../html'
import { stylesheet, stylesheetHash } from '../stylesheet'
import { catalogues, directionOf, type PageLanguage, pageLanguages } from './catalogues'
import type { PageTexts } from './catalogues'

/** The language of one page, and everything that the page says in it. */
export interface PageLocale extends PageFrame {
  /** The texts of the pages of the suite. */
  readonly texts: PageTexts
  /** The text of the host in this language, or else in the next best one. */
  readonly pick: (text: Text) => string
}

export interface PageService {
  readonly name: Text | undefined
  readonly logo: string | undefined
  readonly stylesheet: string
  readonly styleSource: string
}

export interface PageLocales {
  readonly styleSource: string
  /** RFC 4647 3.4: by `ui_locales`, then `Accept-Language`, at most 20 of each, then the server's first. */
  choose(uiLocales: string | undefined, acceptLanguage: string | undefined): PageLocale
}

const plainService: PageService = {
  name: undefined,
  logo: undefined,
  stylesheet,
  styleSource: stylesheetHash,
}

export function createPageLocales(
  languages: readonly PageLanguage[] = pageLanguages,
  texts: Readonly<Record<PageLanguage, PageTexts>> = catalogues,
  service: PageService = plainService,
): PageLocales {
  const localeOf = (language: PageLanguage, range: string): PageLocale => {
    const ranges = [range, language, ...languages]
    const pick = (text: Text) => textIn(text, ranges)
    const { name, logo } = service
    return {
      tag: language,
      dir: directionOf(language),
      texts: texts[language],
      pick,
      service: { name: name === undefined ? undefined : pick(name), logo },
      stylesheet: service.stylesheet,
    }
  }
  const [first = 'en'] = languages
  return {
    styleSource: service.styleSource,
    choose(uiLocales, acceptLanguage) {
      const found =
        lookUpLanguage(parseUiLocales(uiLocales), languages) ??
        lookUpLanguage(parseAcceptLanguage(acceptLanguage), languages)
      return found === undefined ? localeOf(first, first) : localeOf(found.tag, found.range)
    },
  }
}
