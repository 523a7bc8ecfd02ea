import type { Request, Response } from 'express'
import { aCall, aFlag, aListOf, aText } from '../primitives/fields'
import {
  checked,
  type Field,
  type Fields,
  group,
  kind,
  optional,
  type Place,
  type Read,
  usual,
} from '../primitives/schema'
import { isRecord, isText } from '../primitives/values'
import { aLocalizedText, type Text } from '../protocol/localized-text'
import type { ConnectedView } from './connected-page'
import type { ConsentView } from './consent-page'
import type { ErrorView } from './pages'
import { stylesheet } from './stylesheet'
import {
  catalogues,
  createPageLocales,
  type PageLanguage,
  pageLanguages,
  type PageTexts,
} from './texts/locale'

/** Pages of the host; language and look of all others. */
export interface PageOptions {
  /**
   * Renders the consent page: a form that posts `view.fields` and `decision` to `view.action`. A
   * Content-Security-Policy must allow `form-action 'self' https:` and the scheme of `view.redirectTo`.
   *
   * @see docs/guides/add-to-your-application.md
   */
  readonly consent?: (request: Request, response: Response, view: ConsentView) => unknown
  /** Renders the error page, but for programs that accept only JSON. */
  readonly error?: (request: Request, response: Response, view: ErrorView) => unknown
  /**
   * Renders the page of connected applications.
   *
   * @see docs/guides/users-and-their-apps.md
   */
  readonly connected?: (request: Request, response: Response, view: ConnectedView) => unknown
  /**
   * Whether a client may keep hold of a popup with the authorization endpoint: the server sends
   * `Cross-Origin-Opener-Policy: unsafe-none`, and the login page must send no other. Default `false`.
   */
  readonly popups?: boolean
  /** The first is for those who read none of the others. Default `['en', 'de', 'fr', 'es', 'ja', 'ar']`. */
  readonly languages?: readonly PageLanguage[]
  /**
   * Texts in place of those of the suite, by language, page and name; a name stands for `{}`: `{ en: { consent: {
   * allow: 'Connect', title: 'Connect {}?' } } }`.
   */
  readonly texts?: PageTextsByLanguage
  /** Shown on every page of the suite. */
  readonly service?: PageServiceOptions
}

interface PageServiceOptions {
  /** Default: the pages name no service. */
  readonly name?: Text
  /** An https URL, or a path of the host such as `/logo.svg`. Default: no logo. */
  readonly logo?: string
  /** Default: the colours of the suite. */
  readonly colors?: ServiceColors
}

/** Each `#rrggbb`. */
interface ServiceColors extends ColorPair {
  /** For dark pages. Default: those of the suite. */
  readonly dark?: ColorPair
}

interface ColorPair {
  /** Of links and the button that allows, readable on the card. Default: a blue. */
  readonly accent?: string
  /** Around the card, readable behind text. Default: a grey. */
  readonly background?: string
}

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

interface Surroundings {
  readonly card: string
  readonly text: string
}

const light: Surroundings = { card: '#ffffff', text: '#171a21' }
const dark: Surroundings = { card: '#16191f', text: '#eceef2' }

// WCAG 2.2, 1.4.3.
const leastContrast = 4.5

const serviceStyle: Field<string> = (given, at, name) => {
  const { dark: pairInDark, ...pair } = serviceColors(given, at, name)
  const [ofLight, ofDark] = [declarationsOf(pair, light), declarationsOf(pairInDark, dark)]
  const inDark = ofDark === '' ? '' : `@media (prefers-color-scheme: dark) { :root { ${ofDark} } }\n`
  // What is readable on a white card may not be so on a dark one.
  const inLight = ofLight === '' ? '' : `@media not (prefers-color-scheme: dark) { :root { ${ofLight} } }\n`
  return `${stylesheet}${inLight}${inDark}`
}

function declarationsOf({ accent, background }: Read<ReturnType<typeof pairOn>>, { card }: Surroundings) {
  const declarations = accent === undefined ? [] : accentDeclarations(accent, card)
  return (background === undefined ? declarations : [...declarations, `--page: ${background};`]).join(' ')
}

function accentDeclarations(accent: string, card: string): readonly string[] {
  const onAccent = contrastOf(accent, '#ffffff') >= leastContrast ? '#ffffff' : '#000000'
  // Away from the text: the contrast grows.
  const hover = mixed(accent, onAccent === '#ffffff' ? '#000000' : '#ffffff', 0.12)
  return [
    `--accent: ${accent};`,
    `--accent-hover: ${hover};`,
    `--on-accent: ${onAccent};`,
    `--link: ${accent};`,
    `--tint: ${mixed(card, accent, 0.1)};`,
    `--on-tint: ${accent};`,
  ]
}

const channels = [1, 3, 5] as const
const channelOf = (color: string, at: number): number => Number.parseInt(color.slice(at, at + 2), 16)

function mixed(from: string, to: string, share: number): string {
  const digits = channels.map((at) =>
    Math.round(channelOf(from, at) * (1 - share) + channelOf(to, at) * share)
      .toString(16)
      .padStart(2, '0'),
  )
  return `#${digits.join('')}`
}

/** 1 to 21 (WCAG 2.2, relative luminance). */
function contrastOf(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channels.map((at) => {
    const share = channelOf(color, at) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const colorBeside = (what: string, other: string) =>
  optional(
    checked(kind(isColor, "must be a colour such as '#3a56d4'."), (color, wrong) => {
      const contrast = contrastOf(color, other)
      if (contrast < leastContrast)
        wrong(
          '',
          `must have a contrast of at least ${leastContrast} to the colour of its ${what}, ${other}; it has ${contrast.toFixed(1)}.`,
        )
    }),
  )

const isColor = (value: unknown): value is string =>
  typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)

const pairOn = ({ card, text }: Surroundings) =>
  ({ accent: colorBeside('card', card), background: colorBeside('text', text) }) satisfies Fields<ColorPair>

const serviceColors = group({ ...pairOn(light), dark: group(pairOn(dark)) } satisfies Fields<ServiceColors>)

const service = group({
  name: optional(aLocalizedText),
  logo: optional(kind(isLogo, "must be an https URL, or a path of this server such as '/logo.svg'.")),
  colors: serviceStyle,
} satisfies Fields<PageServiceOptions>)

// As the policy for images.
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
