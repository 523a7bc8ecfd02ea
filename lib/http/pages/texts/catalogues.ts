import { ar } from './ar'
import { de } from './de'
import { en } from './en'
import { es } from './es'
import { fr } from './fr'
import { ja } from './ja'
import type { PageTexts } from './texts'

/** A language of the pages, by its tag. */
export type PageLanguage = 'en' | 'de' | 'fr' | 'es' | 'ja' | 'ar'

export const catalogues: Readonly<Record<PageLanguage, PageTexts>> = { en, de, fr, es, ja, ar }

/** The first is for people who read none of them. */
export const pageLanguages: readonly PageLanguage[] = ['en', 'de', 'fr', 'es', 'ja', 'ar']

const rightToLeft: ReadonlySet<string> = new Set<PageLanguage>(['ar'])

export const directionOf = (language: PageLanguage): 'ltr' | 'rtl' =>
  rightToLeft.has(language) ? 'rtl' : 'ltr'
