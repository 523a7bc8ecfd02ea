import ar from './ar.json'
import de from './de.json'
import { en, type PageTexts } from './en'
import es from './es.json'
import fr from './fr.json'
import ja from './ja.json'

/** A language of the pages, by its tag. */
export type PageLanguage = 'en' | 'de' | 'fr' | 'es' | 'ja' | 'ar'

export const catalogues: Readonly<Record<PageLanguage, PageTexts>> = { en, de, fr, es, ja, ar }

/** The first is for people who read none of them. */
export const pageLanguages: readonly PageLanguage[] = ['en', 'de', 'fr', 'es', 'ja', 'ar']

const rightToLeft: ReadonlySet<string> = new Set<PageLanguage>(['ar'])

export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' =>
  rightToLeft.has(language) ? 'rtl' : 'ltr'
