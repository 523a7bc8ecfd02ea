import type MiniSearch from 'minisearch'
import type { Options, SearchResult } from 'minisearch'

/** A section of a page, as the search finds it. */
export interface Entry {
  /** Its address, from the top of the site. */
  readonly id: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

/** A name such as `refreshTokenGrace` or `invalid_grant` is found whole and by its parts. */
const termsOf = (word: string) => [
  ...new Set([word, ...word.split(/_|(?<=[a-z\d])(?=[A-Z])/)].map((term) => term.toLowerCase())),
]

/** How the build writes the index, and how the pages read it. */
export const searchOptions = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['page', 'heading', 'text'],
  tokenize: (text) => text.match(/[\p{L}\p{N}_]+/gu) ?? [],
  processTerm: termsOf,
  searchOptions: {
    boost: { heading: 4, page: 3 },
    combineWith: 'AND',
    prefix: true,
    processTerm: (term) => term.toLowerCase(),
  },
} satisfies Options<Entry>

const fuzzy = (term: string) => (term.length > 4 ? 0.2 : false)

/** The sections with all words; or else with words like them; or else with some of the words. */
export function find(index: MiniSearch, query: string): readonly SearchResult[] {
  for (const looser of [{}, { fuzzy }, { fuzzy, combineWith: 'OR' as const }]) {
    const results = index.search(query, looser)
    if (results.length > 0) return results
  }
  return []
}
