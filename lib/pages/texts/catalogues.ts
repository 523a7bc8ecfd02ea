import ar from './ar.json'
import de from './de.json'
import english from './en.json'
import es from './es.json'
import fr from './fr.json'
import ja from './ja.json'

// The declarations of the package name the texts, and no file of data.
const named = <Texts>(texts: Texts): { readonly [Part in keyof Texts]: Texts[Part] } => texts

/** Every text of the pages in English. In the place of `{}` stands a name, a host or a link. */
export const en = named(english)

/** Every text of the pages in one language. Each language has `{}` where English has it. */
export type PageTexts = typeof en

/** Why a request ended on the page of errors, as far as a person needs to know. */
export type ErrorKind = keyof PageTexts['error']['explanations']

/** A language of the pages, by its tag. */
export type PageLanguage = 'en' | 'de' | 'fr' | 'es' | 'ja' | 'ar'

export const catalogues: Readonly<Record<PageLanguage, PageTexts>> = { en, de, fr, es, ja, ar }

/** The first is for people who read none of them. */
export const pageLanguages: readonly PageLanguage[] = ['en', 'de', 'fr', 'es', 'ja', 'ar']

const rightToLeft: ReadonlySet<string> = new Set<PageLanguage>(['ar'])

export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' =>
  rightToLeft.has(language) ? 'rtl' : 'ltr'
