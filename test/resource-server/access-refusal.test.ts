import { ConfigurationError, OptionsReader } from '../../lib/protocol/configuration'
import { AccessRefusal } from '../../lib/resource-server/access-refusal'
import { readRequirement } from '../../lib/resource-server/admit'
import { usualChallenge } from '../../lib/resource-server/challenge'

const needed = ['photos.read', 'photos.write']

describe('AccessRefusal: the challenge, to the letter', () => {
  it.each([
    ['without a token', AccessRefusal.noToken([]), 401, 'Bearer realm="oauth"'],
    [
      'without a token where scope is needed',
      AccessRefusal.noToken(needed),
      401,
      'Bearer realm="oauth", scope="photos.read photos.write"',
    ],
    [
      'that is malformed',
      AccessRefusal.malformed('token_malformed', []),
      400,
      'Bearer realm="oauth", error="invalid_request", error_description="The request does not carry one access token in one Authorization header."',
    ],
    [
      'with a bad token',
      AccessRefusal.badToken('token_invalid', needed),
      401,
      'Bearer realm="oauth", scope="photos.read photos.write", error="invalid_token", error_description="The access token is unknown, expired or revoked."',
    ],
    [
      'with too little scope',
      AccessRefusal.insufficientScope(needed),
      403,
      'Bearer realm="oauth", scope="photos.read photos.write", error="insufficient_scope", error_description="The access token does not have the scope that this resource needs."',
    ],
  ])('of a request %s', (_what, refusal, status, challenge) => {
    expect(refusal.status).toBe(status)
    expect(refusal.challenge('Bearer', usualChallenge, undefined)).toBe(challenge)
  })

  it('names the scheme and the realm it is given', () => {
    expect(
      AccessRefusal.noToken([]).challenge('MAC', { ...usualChallenge, realm: 'photos' }, undefined),
    ).toBe('MAC realm="photos"')
  })

  it('points to the page of its code, and tells nothing where no token was shown', () => {
    const page = 'https://photos.example/errors'
    expect(AccessRefusal.badToken('token_invalid', []).challenge('Bearer', usualChallenge, page)).toContain(
      ', error_uri="https://photos.example/errors#invalid_token"',
    )
    expect(AccessRefusal.noToken([]).challenge('Bearer', usualChallenge, page)).toBe('Bearer realm="oauth"')
  })

  it('holds descriptions of the characters that RFC 6750 3 allows', () => {
    for (const { description } of [
      AccessRefusal.noToken([]),
      AccessRefusal.malformed('token_malformed', []),
      AccessRefusal.badToken('token_invalid', []),
      AccessRefusal.insufficientScope([]),
    ])
      expect(description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  })

  it.each([
    [AccessRefusal.noToken([]), undefined, 'token_missing'],
    [
      AccessRefusal.malformed('several_authorization_headers', []),
      'invalid_request',
      'several_authorization_headers',
    ],
    [AccessRefusal.badToken('token_invalid', []), 'invalid_token', 'token_invalid'],
    [AccessRefusal.insufficientScope([]), 'insufficient_scope', 'token_scope_insufficient'],
  ])('is an error with code and reason: %s', (refusal, code, reason) => {
    expect(refusal).toBeInstanceOf(Error)
    expect(refusal).toMatchObject({ name: 'AccessRefusal', code, reason, message: refusal.description })
  })
})

function parseRequirement(scope: unknown, options: unknown, knownScope: readonly string[] | undefined) {
  const reading = new OptionsReader(options, '')
  const requirement = readRequirement(reading, scope, knownScope)
  reading.refuseUnknown()
  reading.settle('A bearer guard cannot work:')
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
        message: 'is not known here. Did you mean match? The known names are match, optional, resource.',
      },
    ])
    for (const options of [null, 7, 'any', []]) expect(mistakesOf('photos.read', options)).toHaveLength(1)
  })

  it('tells every mistake at once', () => {
    const paths = mistakesOf('a  b', { match: 'x', optional: 'x', x: 1 }).map(({ path }) => path)
    expect(paths).toEqual(['scope', 'match', 'optional', 'x'])
  })
})
