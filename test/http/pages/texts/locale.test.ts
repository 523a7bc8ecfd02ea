import { createPageLocales } from '../../../../lib/http/pages/texts/locale'

const locales = createPageLocales()

describe('the language of a page', () => {
  it.each([
    ['fr', 'de', 'fr'],
    ['nl it', 'de', 'de'],
    [undefined, 'ja', 'ja'],
    ['nl', 'it', 'en'],
    [undefined, undefined, 'en'],
    ['ar-EG', undefined, 'ar'],
    ['ES-419', undefined, 'es'],
    ['constructor __proto__ toString', undefined, 'en'],
  ])('with ui_locales %j and Accept-Language %j is %s', (uiLocales, acceptLanguage, tag) => {
    expect(locales.choose(uiLocales, acceptLanguage).tag).toBe(tag)
  })

  it('is the first one of the server for a person who reads none of them', () => {
    const ours = createPageLocales(['de', 'fr'])
    expect(ours.choose('ja', 'en').tag).toBe('de')
    expect(ours.choose(undefined, 'fr-CH').tag).toBe('fr')
  })

  it('is written from right to left in Arabic alone', () => {
    const directions = ['en', 'de', 'fr', 'es', 'ja', 'ar'].map((tag) => locales.choose(tag, undefined).dir)
    expect(directions).toEqual(['ltr', 'ltr', 'ltr', 'ltr', 'ltr', 'rtl'])
  })
})

describe('a text of the host', () => {
  it('stands in the variety that the person asked for, then in the language of the page, then in the next of the server', () => {
    const text = { nl: 'n', de: 'd', 'de-AT': 'a', en: 'e' }
    expect(locales.choose('de-AT', undefined).pick(text)).toBe('a')
    expect(locales.choose('de-CH', undefined).pick(text)).toBe('d')
    expect(locales.choose('fr', undefined).pick(text)).toBe('e')
    expect(locales.choose('fr', undefined).pick({ nl: 'n' })).toBe('n')
  })
})
