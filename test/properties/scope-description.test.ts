import { OptionsReader } from '../../lib/primitives/options-reader'
import { readScopes } from '../../lib/protocol/scope-description'

const read = (scopes: unknown) => {
  const reading = new OptionsReader({ scopes }, '')
  return { scopes: [...readScopes(reading)], issues: reading.issues }
}

const plain = { group: undefined, weight: 'read', optional: false }

describe('the option scopes', () => {
  it('takes texts, texts by language, and descriptions with their group and weight', () => {
    const german = { en: 'See', 'de-AT': 'Sehen' }
    expect(
      read({
        a: 'See',
        b: german,
        c: { description: german, group: { en: 'Photos' }, weight: 'danger', optional: true },
        d: { description: 'See' },
      }),
    ).toEqual({
      scopes: [
        ['a', { description: 'See', ...plain }],
        ['b', { description: german, ...plain }],
        ['c', { description: german, group: { en: 'Photos' }, weight: 'danger', optional: true }],
        ['d', { description: 'See', ...plain }],
      ],
      issues: [],
    })
  })

  it.each([
    ['an empty text', '', '', /^must be a text, texts by language/],
    ['a number', 7, '', /^must be a text, texts by language/],
    ['a list', ['See'], '', /^must be a text, texts by language/],
    ['no language at all', {}, '', /^must be a text, texts by language/],
    ['an empty text of a language', { en: '' }, '', /^must be a text, texts by language/],
    [
      'members without a description',
      { group: 'x', optional: true },
      '',
      /^must be a text, texts by language/,
    ],
    ['an empty description', { description: '' }, '.description', /^must be a text/],
    ['a wrong group', { description: 'x', group: 7 }, '.group', /^must be a text/],
    ['a wrong weight', { description: 'x', weight: 'heavy' }, '.weight', /^must be 'read'/],
    ['a wrong optional', { description: 'x', optional: 'yes' }, '.optional', /^must be true or false/],
    ['a misspelt member', { description: 'x', wieght: 'read' }, '.wieght', /Did you mean weight\?/],
  ])('names the path and the cure of %s', (_what, given, path, message) => {
    expect(read({ 'a:b': given }).issues).toEqual([
      { path: `scopes["a:b"]${path}`, message: expect.stringMatching(message) },
    ])
  })

  it.each([[null], [{}], [[]], ['x']])('is an object with at least one scope, not %j', (given) => {
    expect(read(given).issues).toEqual([
      { path: 'scopes', message: expect.stringMatching(/^must be an object/) },
    ])
  })
})
