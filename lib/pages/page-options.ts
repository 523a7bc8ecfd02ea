import type { Request, Response } from 'express'
import type { OptionsReader } from '../primitives/options-reader'
import { isRecord, isText } from '../primitives/values'
import { isLocalizedText, type Text, textExpectation } from '../protocol/localized-text'
import type { ConnectedView } from './connected-page'
import type { ConsentView } from './consent-page'
import type { ErrorView } from './pages'
import { readServiceStyle, type ServiceColors } from './service-style'
import { styleSourceOf } from './stylesheet'
import { catalogues, type PageLanguage, pageLanguages } from './texts/catalogues'
import { createPageLocales, type PageLocales, type PageService } from './texts/locale'
import type { PageTexts } from './texts/catalogues'

/** The pages for people: those that the host renders, and the language and the look of all others. */
export interface PageOptions {
  /**
   * Renders the consent page: a form that posts `view.fields` and `decision` to `view.action`. A
   * Content-Security-Policy of the host must allow `form-action 'self' https:` and the scheme of
   * `view.redirectTo`. Default: the page of the suite.
   */
  readonly consent?: (request: Request, response: Response, view: ConsentView) => unknown
  /**
   * Renders the error page. A program that accepts JSON and no HTML gets JSON from the server. Default: the
   * page of the suite.
   */
  readonly error?: (request: Request, response: Response, view: ErrorView) => unknown
  /**
   * Renders the page of connected applications: the list, or the question before a removal. Default: the page
   * of the suite.
   */
  readonly connected?: (request: Request, response: Response, view: ConnectedView) => unknown
  /**
   * Whether a client may open the authorization endpoint in a popup and keep hold of it: the consent page and
   * the endpoint's redirects have `Cross-Origin-Opener-Policy: unsafe-none`, whatever the host sends. The
   * host's login page must have no other value either. Default `false`: the policy of the host stands.
   */
  readonly popups?: boolean
  /**
   * The languages of the pages. The first is for those who read none of the others. The server chooses by
   * `ui_locales`, then by `Accept-Language`. Default `['en', 'de', 'fr', 'es', 'ja', 'ar']`.
   */
  readonly languages?: readonly PageLanguage[]
  /**
   * Single texts in place of those of the suite, by language, page and name. In the place of `{}` stands a name:
   * `{ en: { consent: { allow: 'Connect', title: 'Connect {}?' } } }`. Default: none.
   */
  readonly texts?: PageTextsByLanguage
  /** On every page of the suite. Default: none. */
  readonly service?: PageServiceOptions
}

/** The name, the logo and the colours that pages show of the service of the host. */
interface PageServiceOptions {
  /** Such as `Lumen`. Default: the pages name no service. */
  readonly name?: Text
  /** An https URL, or a path of the host such as `/logo.svg`. Default: no logo. */
  readonly logo?: string
  /** Default: the colours of the suite. */
  readonly colors?: ServiceColors
}

/** Single texts, by page and name. */
type PageTextOptions = {
  readonly [Page in keyof PageTexts]?: Partial<PageTexts[Page]>
}

type PageTextsByLanguage = Readonly<Partial<Record<PageLanguage, PageTextOptions>>>

export function readPageLocales(fields: OptionsReader): PageLocales {
  const languages = fields.optional('languages', pageLanguages, areLanguages, languagesExpectation)
  return createPageLocales(languages, readTexts(fields), readService(fields))
}

const languagesExpectation = `must be a list of languages of the pages, the first for people who read none of the others: ${pageLanguages.join(', ')}.`

const isLanguage = (value: unknown): value is PageLanguage =>
  pageLanguages.some((language) => language === value)

const areLanguages = (value: unknown): value is readonly PageLanguage[] =>
  Array.isArray(value) && value.length > 0 && value.every(isLanguage)

function readTexts(fields: OptionsReader): Readonly<Record<PageLanguage, PageTexts>> {
  if (fields.take('texts') === undefined) return catalogues
  return fields.group('texts', (languages) => ({ ...readChanged(languages, catalogues) }))
}

function readChanged<Texts extends object>(fields: OptionsReader, texts: Texts): Texts {
  const changed: Record<string, unknown> = {}
  const entries: readonly (readonly [string, unknown])[] = Object.entries(texts)
  for (const [name, text] of entries) {
    if (fields.take(name) === undefined) continue
    changed[name] = isRecord(text)
      ? fields.group(name, (inner) => readChanged(inner, text))
      : fields.required(name, text, sameKind(text), kindExpectation(text))
  }
  return { ...texts, ...changed }
}

const sameKind =
  (text: unknown) =>
  (value: unknown): value is unknown =>
    isText(value) && (!isAround(text) || isAround(value))

const isAround = (text: unknown): boolean => typeof text === 'string' && text.split('{}').length === 2

const kindExpectation = (text: unknown): string =>
  isAround(text) ? 'must be a text with one {}, in the place of the name.' : 'must be a text.'

function readService(fields: OptionsReader): PageService {
  return fields.group('service', (service) => {
    const name = service.optional<Text | undefined>('name', undefined, isLocalizedText, textExpectation)
    const logo = service.optional<string | undefined>(
      'logo',
      undefined,
      isLogo,
      "must be an https URL, or a path of this server such as '/logo.svg'.",
    )
    const stylesheet = readServiceStyle(service)
    return { name, logo, stylesheet, styleSource: styleSourceOf(stylesheet) }
  })
}

// As the pages' policy for images.
const isLogo = (value: unknown): value is string =>
  isText(value) &&
  (/^\/(?![/\\])/.test(value) || (URL.canParse(value) && new URL(value).protocol === 'https:'))
