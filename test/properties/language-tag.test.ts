import {
  isLanguageTag,
  lookUpLanguage,
  parseAcceptLanguage,
  parseUiLocales,
} from '../../lib/protocol/language-tag'

describe('Accept-Language', () => {
  it.each([
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
  ])('%j names the languages %j', (header, languages) => {
    expect(parseAcceptLanguage(header)).toEqual(languages)
  })

  it('names no language beyond the first 20, and none beyond 1,000 characters', () => {
    expect(parseAcceptLanguage(`${'xx,'.repeat(20)}de`)).not.toContain('de')
    expect(parseAcceptLanguage(`${' '.repeat(999)},de`)).toEqual([])
  })

  it('of a megabyte is read up to there, which takes no hours', () => {
    expect(parseAcceptLanguage(`de,${'a-'.repeat(500_000)},en`)).toEqual(['de'])
    expect(parseAcceptLanguage(`${','.repeat(1_000_000)}en`)).toEqual([])
  })
})

describe('ui_locales', () => {
  it('is a list of tags, separated by spaces; what is no tag is left out', () => {
    expect(parseUiLocales('fr-CA  fr "de" en')).toEqual(['fr-CA', 'fr', 'en'])
    expect(parseUiLocales(undefined)).toEqual([])
  })

  it('names no language beyond the first 20', () => {
    expect(parseUiLocales(`${'xx '.repeat(20)}de`)).not.toContain('de')
  })
})

describe('the lookup of RFC 4647 3.4', () => {
  const available = ['en', 'de', 'zh-Hant', 'pt-BR']

  it.each([
    [['de-AT'], 'de'],
    [['DE'], 'de'],
    [['zh-Hant-CN-x-private1-private2'], 'zh-Hant'],
    [['nl', 'de'], 'de'],
    [['de-DE', 'en'], 'de'],
    [['en-GB', 'de'], 'en'],
    [['pt'], undefined],
    [['zh-Hans'], undefined],
    [['deu'], undefined],
    [[], undefined],
  ])('finds for %j the language %j', (ranges, tag) => {
    expect(lookUpLanguage(ranges, available)?.tag).toBe(tag)
  })

  it('drops a subtag of one character together with the next one', () => {
    expect(lookUpLanguage(['de-x-pirate'], ['de-x', 'de'])?.tag).toBe('de')
  })

  it('says which range asked for the language', () => {
    expect(lookUpLanguage(['nl', 'de-AT'], available)).toEqual({ tag: 'de', range: 'de-AT' })
  })
})

it.each([
  ['de', true],
  ['pt-BR', true],
  ['x', true],
  ['', false],
  ['de_AT', false],
  ['toolonglanguage', false],
  ['__proto__', false],
  [1, false],
])('%j is a language tag: %s', (value, is) => {
  expect(isLanguageTag(value)).toBe(is)
})
