import { html } from '../../../../lib/http/pages/html'
import { catalogues, pageLanguages } from '../../../../lib/http/pages/texts/catalogues'

const inner = html`<bdi>NAME</bdi>`

/** Every text of a catalogue by its path, with NAME where a name stands. */
function textsIn(value: unknown, path = ''): readonly (readonly [string, string])[] {
  if (typeof value === 'string') return [[path, value]]
  // `appOnDevice` takes a scheme, which is text.
  if (typeof value === 'function')
    return [[path, String(value(path.endsWith('appOnDevice') ? 'NAME' : inner))]]
  return Object.entries(Object(value)).flatMap(([name, text]) => textsIn(text, `${path}.${name}`))
}

const english = new Map(textsIn(catalogues.en))
const others = pageLanguages.filter((language) => language !== 'en')

describe.each(others)('the catalogue of %s', (language) => {
  const texts = textsIn(catalogues[language])

  it('has every text, and every name of it once', () => {
    expect(texts.map(([path]) => path)).toEqual([...english.keys()])
    for (const [path, text] of texts) {
      expect(text.trim()).toBe(text)
      expect([path, text.split('NAME').length]).toEqual([path, english.get(path)?.split('NAME').length])
    }
  })

  it('has no text of another language', () => {
    const same = texts.filter(([path, text]) => english.get(path) === text)
    expect(same).toEqual([])
  })
})

describe.each([
  ['ja', /[\u3040-\u30ff\u4e00-\u9fff]/u, / (?!<)/],
  ['ar', /\p{Script=Arabic}/u, /[,;?](?!\S)/],
] as const)('a text in %s', (language, letters, foreign) => {
  it.each(textsIn(catalogues[language]))('%s has its letters and its punctuation', (_path, text) => {
    expect(text).toMatch(letters)
    expect(text.replaceAll(/<[^>]*>/g, '')).not.toMatch(foreign)
  })
})
