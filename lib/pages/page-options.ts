import type { Request, Response } from 'express'
import { aCall, aFlag, aListOf, aText } from '../primitives/fields'
import { type Field, type Fields, group, kind, optional, type Place, usual } from '../primitives/schema'
import { isRecord, isText } from '../primitives/values'
import { aLocalizedText, type Text } from '../protocol/localized-text'
import type { ConnectedView } from './connected-page'
import type { ConsentView } from './consent-page'
import type { ErrorView } from './pages'
import { type ServiceColors, serviceStyle } from './service-style'
import { styleSourceOf } from './stylesheet'
import { catalogues, type PageLanguage, pageLanguages } from './texts/catalogues'
import { createPageLocales, type PageService } from './texts/locale'
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

export const pageOptions = (given: unknown, at: Place, name: string) => {
  const read = pageFields(given, at, name)
  return {
    consentPage: read.consent,
    errorPage: read.error,
    connectedPage: read.connected,
    popups: read.popups,
    pageLocales: createPageLocales(read.languages, read.texts, read.service),
  }
}

function changed<Texts extends object>(texts: Texts): Field<Texts> {
  return (given, at, name) => {
    if (given === undefined) return texts
    const fields = Object.entries(texts).map(([key, text]) => [key, changedText(text)] as const)
    return { ...texts, ...group(Object.fromEntries(fields))(given, at, name) }
  }
}

function changedText(text: unknown): Field<unknown> {
  if (isRecord(text)) return changed(text)
  return usual(text, isAround(text) ? textAround : aText)
}

const isAround = (text: unknown): boolean => isText(text) && text.split('{}').length === 2

const textAround = kind(isAround, 'must be a text with one {}, in the place of the name.')

const service: Field<PageService> = (given, at, name) => {
  const { colors, ...read } = serviceFields(given, at, name)
  return { ...read, stylesheet: colors, styleSource: styleSourceOf(colors) }
}

const serviceFields = group({
  name: optional(aLocalizedText),
  logo: optional(kind(isLogo, "must be an https URL, or a path of this server such as '/logo.svg'.")),
  colors: serviceStyle,
} satisfies Fields<PageServiceOptions>)

// As the pages' policy for images.
function isLogo(value: unknown): value is string {
  return (
    isText(value) &&
    (/^\/(?![/\\])/.test(value) || (URL.canParse(value) && new URL(value).protocol === 'https:'))
  )
}

const pageFields = group({
  consent: optional(aCall<PageOptions['consent']>()),
  error: optional(aCall<PageOptions['error']>()),
  connected: optional(aCall<PageOptions['connected']>()),
  popups: aFlag(false),
  languages: usual<readonly PageLanguage[]>(
    pageLanguages,
    aListOf(
      (value): value is PageLanguage => pageLanguages.some((language) => language === value),
      `must be a list of languages of the pages, the first for people who read none of the others: ${pageLanguages.join(', ')}.`,
    ),
  ),
  texts: changed(catalogues),
  service,
} satisfies Fields<PageOptions>)
