import {
  isLanguageTag,
  isLocalizedText,
  lookUpLanguage,
  parseAcceptLanguage,
  parseUiLocales,
  textIn,
} from '../../lib/protocol/localized-text'

test.each([
  [undefined, []],
  ['', []],
  ['de', ['de']],
  ['fr;q=0.5, de-AT, en;q=0.8', ['de-AT', 'en', 'fr']],
  ['en;q=0.7,de;q=0.7', ['en', 'de']],
  ['de;q=0, en', ['en']],
  ['de;q=0.000, *, en;q=0.1', ['en']],
  ['de;q=2, fr;q=x, es;q=, ja; q=0.4, en;q=1.000', ['en', 'ja']],
  ['d€, <script>, en_US, -, en', ['en']],
  ['de;level=1', []],
])('Accept-Language %j names %j', (header, languages) => {
  expect(parseAcceptLanguage(header)).toEqual(languages)
})

test('no more than 20 languages are read, nor more than 1,000 characters, which takes no hours', () => {
  expect(parseAcceptLanguage(`${'xx,'.repeat(20)}de`)).toEqual(Array(20).fill('xx'))
  expect(parseAcceptLanguage(`${' '.repeat(999)},de`)).toEqual([])
  expect(parseAcceptLanguage(`de,${'a-'.repeat(500_000)},en`)).toEqual(['de'])
  expect(parseAcceptLanguage(`${','.repeat(1_000_000)}en`)).toEqual([])
})

test.each([
  ['fr-CA  fr "de" en', ['fr-CA', 'fr', 'en']],
  [undefined, []],
  [`${'xx '.repeat(20)}de`, Array(20).fill('xx')],
])('ui_locales %j names %j', (given, languages) => {
  expect(parseUiLocales(given)).toEqual(languages)
})

test.each([
  ['de-AT', 'de', 'de-AT'],
  ['DE', 'de', 'DE'],
  ['zh-Hant-CN-x-private1-private2', 'zh-Hant', 'zh-Hant-CN-x-private1-private2'],
  ['nl de', 'de', 'de'],
  ['de-DE en', 'de', 'de-DE'],
  ['en-GB de', 'en', 'en-GB'],
  // A subtag of one character is dropped together with the next one.
  ['de-y-pirate', 'de', 'de-y-pirate'],
  ['pt', undefined, undefined],
  ['zh-Hans', undefined, undefined],
  ['deu', undefined, undefined],
  ['', undefined, undefined],
])('by the lookup of RFC 4647 3.4, %s finds %s for %s', (ranges, tag, range) => {
  const found = lookUpLanguage(ranges.split(' '), ['en', 'de-y', 'de', 'zh-Hant', 'pt-BR'])
  expect([found?.tag, found?.range]).toEqual([tag, range])
})

test('a language tag is one of RFC 5646', () => {
  const given = ['de', 'pt-BR', 'x', '', 'de_AT', 'toolonglanguage', '__proto__', 1]
  expect(given.filter((tag) => isLanguageTag(tag))).toEqual(['de', 'pt-BR', 'x'])
})

const text = { en: 'Photos', de: 'Fotos', 'de-CH': 'Fötteli' }

test.each([
  ['de-CH-1996', 'Fötteli'],
  ['de-AT', 'Fotos'],
  ['fr de', 'Fotos'],
  ['fr', 'Photos'],
  ['', 'Photos'],
])('a text for %j is %s', (ranges, found) => {
  expect(textIn(text, ranges.split(' '))).toBe(found)
  expect(textIn('Photos', ranges.split(' '))).toBe('Photos')
})

test('a text is one, or has one for each language', () => {
  const others = ['', {}, { en: '' }, { en: 1 }, { 'not a tag': 'a' }, ['a'], null, undefined]
  expect(['a', text, ...others].filter((given) => isLocalizedText(given))).toEqual(['a', text])
})
