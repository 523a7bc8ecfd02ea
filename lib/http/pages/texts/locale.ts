import { lookUpLanguage, parseAcceptLanguage, parseUiLocales } from '../../../protocol/language-tag'
import { type Text, textIn } from '../../../protocol/localized-text'
import type { PageFrame } from '../html'
import { stylesheet, stylesheetHash } from '../stylesheet'
import { catalogues, directionOf, type PageLanguage, pageLanguages } from './catalogues'
import type { PageTexts } from './texts'

/** The language of one page, and everything that the page says in it. */
export interface PageLocale extends PageFrame {
  /** The texts of the pages of the suite. */
  readonly texts: PageTexts
  /** The text of the host in this language, or else in the next best one. */
  readonly pick: (text: Text) => string
}

/** The name and the look of the service, in every language. */
export interface PageService {
  readonly name: Text | undefined
  readonly logo: string | undefined
  /** The whole stylesheet of the pages. */
  readonly stylesheet: string
  /** The source for `style-src` that allows this stylesheet. */
  readonly styleSource: string
}

/** The languages and the look of the pages of one server. */
export interface PageLocales {
  /** The source for `style-src` that allows the stylesheet of the pages. */
  readonly styleSource: string
  /**
   * The language for one request: the best one of `ui_locales`, then of `Accept-Language`, then the first of the server
   * (RFC 4647 3.4). Reads at most 20 languages of each.
   */
  choose(uiLocales: string | undefined, acceptLanguage: string | undefined): PageLocale
}

const plainService: PageService = {
  name: undefined,
  logo: undefined,
  stylesheet,
  styleSource: stylesheetHash,
}

/**
 * Makes the choice of languages.
 *
 * @param languages at least one; the first is for people who read none of them.
 * @param texts the texts of each language.
 */
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
