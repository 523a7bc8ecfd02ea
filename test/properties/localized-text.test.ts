import { isLocalizedText, textIn } from '../../lib/protocol/localized-text'

const text = { en: 'Photos', de: 'Fotos', 'de-CH': 'Fötteli' }

it.each([
  [['de-CH-1996'], 'Fötteli'],
  [['de-AT'], 'Fotos'],
  [['fr', 'de'], 'Fotos'],
  [['fr'], 'Photos'],
  [[], 'Photos'],
])('a text for %j is %s', (ranges, found) => {
  expect(textIn(text, ranges)).toBe(found)
})

it('a plain text is the same in all languages', () => {
  expect(textIn('Photos', ['de'])).toBe('Photos')
})

it.each([
  ['a', true],
  [text, true],
  ['', false],
  [{}, false],
  [{ en: '' }, false],
  [{ en: 1 }, false],
  [{ 'not a tag': 'a' }, false],
  [['a'], false],
  [null, false],
  [undefined, false],
])('%j is a text: %s', (value, is) => {
  expect(isLocalizedText(value)).toBe(is)
})
