import ar from '../../lib/pages/texts/ar.json'
import de from '../../lib/pages/texts/de.json'
import { en } from '../../lib/pages/texts/locale'
import es from '../../lib/pages/texts/es.json'
import fr from '../../lib/pages/texts/fr.json'
import ja from '../../lib/pages/texts/ja.json'
import table from '../../lib/protocol/refusal-table.json'

/** The name of each text, and whether a name stands in it. */
function namesIn(texts: object, path = ''): readonly string[] {
  return Object.entries(texts).flatMap(([name, text]: [string, unknown]) =>
    typeof text === 'object' && text !== null
      ? namesIn(text, `${path}${name}.`)
      : `${path}${name}${'{}'.repeat(String(text).split('{}').length - 1)}`,
  )
}

test.each(Object.entries({ ar, de, es, fr, ja }))(
  'The language %s has the texts of English and no others, with a place for a name where English has one',
  (_language, texts) => {
    expect(namesIn(texts)).toEqual(namesIn(en))
    expect(JSON.stringify(texts)).not.toMatch(/":\s*""/)
  },
)

test('an explanation that the table of refusals names for the page of errors is one of the page', () => {
  const named = Object.values(table).flatMap((row) => ('page' in row ? [row.page] : []))
  expect(named.length).toBeGreaterThan(30)
  expect(Object.keys(en.error.explanations)).toEqual(expect.arrayContaining(named))
})
