import { ConfigurationError, OptionsReader } from '../../lib/primitives/options-reader'
import { readRequirement } from '../../lib/resource-server/admit'

function parseRequirement(scope: unknown, options: unknown, knownScope: readonly string[] | undefined) {
  const reading = new OptionsReader(options, '')
  const requirement = readRequirement(reading, scope, knownScope)
  reading.refuseUnknown()
  reading.throwIssues('A bearer guard cannot work:')
  return requirement
}

const known = ['photos.read', 'photos.write']

function mistakesOf(
  scope: unknown,
  options: unknown = {},
  knownScope: readonly string[] | undefined = known,
) {
  try {
    parseRequirement(scope, options, knownScope)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.issues
    throw error
  }
  return []
}

describe('readRequirement', () => {
  it.each([
    ['', []],
    ['photos.read', ['photos.read']],
    ['photos.write photos.read', ['photos.write', 'photos.read']],
  ])('reads the scope %j', (scope, expected) => {
    expect(parseRequirement(scope, {}, known)).toEqual({ scope: expected, match: 'all', optional: false })
  })

  it.each([
    [{ match: 'any' }, { match: 'any', optional: false }],
    [
      { match: 'all', optional: false },
      { match: 'all', optional: false },
    ],
    [{ optional: true }, { match: 'all', optional: true }],
    [
      { match: undefined, optional: undefined },
      { match: 'all', optional: false },
    ],
  ])('reads the options %j', (options, expected) => {
    expect(parseRequirement('photos.read', options, known)).toEqual({ scope: ['photos.read'], ...expected })
  })

  it.each([
    [' '],
    ['photos.read  photos.write'],
    ['photos.read,photos.write'],
    ['"'],
    [null],
    [undefined],
    [7],
    [['photos.read']],
    [{}],
    [() => ''],
  ])('refuses the scope %j', (scope) => {
    expect(mistakesOf(scope).map(({ path }) => path)).toEqual(['scope'])
  })

  it('says what a scope looks like', () => {
    expect(mistakesOf('a  b')[0]?.message).toBe(
      "must be scope tokens with one space between two, as in bearerGuard('photos:read').",
    )
  })

  it.each(['photos.raed', 'photos.read photos.raed', 'PHOTOS.READ'])(
    'refuses the misspelt scope %s',
    (scope) => {
      expect(mistakesOf(scope)).toEqual([
        { path: 'scope', message: 'must hold scopes of this server: photos.read, photos.write.' },
      ])
    },
  )

  it('takes any scope where only another process knows the scopes', () => {
    expect(parseRequirement('anything', {}, undefined)).toHaveProperty('scope', ['anything'])
  })

  it.each([['some'], ['ALL'], [''], [null], [true]])(
    'refuses to match %j: a misspelt "all" must not let more through [token-14]',
    (match) => {
      expect(mistakesOf('photos.read', { match })).toEqual([
        { path: 'match', message: "must be 'all' or 'any'." },
      ])
    },
  )

  it.each([[null], [1], ['true'], [{}]])(
    'refuses %j for optional: who may pass is never guessed',
    (optional) => {
      expect(mistakesOf('photos.read', { optional })).toEqual([
        { path: 'optional', message: 'must be true or false.' },
      ])
    },
  )

  it('refuses options that it does not know, or that are none', () => {
    expect(mistakesOf('photos.read', { matches: 'any' })).toEqual([
      {
        path: 'matches',
        message:
          'is not known here. Did you mean match? The known names are acr, match, maxAge, optional, resource.',
      },
    ])
    for (const options of [null, 7, 'any', []]) expect(mistakesOf('photos.read', options)).toHaveLength(1)
  })

  it('reports every mistake at once', () => {
    const paths = mistakesOf('a  b', { match: 'x', optional: 'x', x: 1 }).map(({ path }) => path)
    expect(paths).toEqual(['scope', 'match', 'optional', 'x'])
  })
})
