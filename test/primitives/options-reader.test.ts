import {
  ConfigurationError,
  type ConfigurationIssue,
  isBoolean,
  isRecord,
  isText,
  isTexts,
  nearestName,
  OptionsReader,
} from '../../lib/primitives/options-reader'

describe('ConfigurationError', () => {
  it('lists every mistake with its path and cure', () => {
    const issues: readonly ConfigurationIssue[] = [
      { path: 'issuer', message: 'must be an https URL.' },
      { path: 'clients[0].scope', message: 'is missing: it must list what the client may ask for.' },
    ]
    const error = new ConfigurationError('The server cannot start:', issues)
    expect(error.issues).toBe(issues)
    expect(error.name).toBe('ConfigurationError')
    expect(error.message).toBe(
      [
        'The server cannot start:',
        '  - issuer must be an https URL.',
        '  - clients[0].scope is missing: it must list what the client may ask for.',
      ].join('\n'),
    )
  })
})

describe('OptionsReader', () => {
  it('reads a required field', () => {
    const reading = new OptionsReader({ name: 'x' }, '')
    expect(reading.required('name', '', isText, 'must be a text.')).toBe('x')
    expect(reading.issues).toEqual([])
  })

  it('distinguishes a missing field from a wrong one', () => {
    const reading = new OptionsReader({ wrong: 7 }, '')
    expect(reading.required('missing', 'placeholder', isText, 'must be a text.')).toBe('placeholder')
    expect(reading.required('wrong', 'placeholder', isText, 'must be a text.')).toBe('placeholder')
    expect(reading.issues).toEqual([
      { path: 'missing', message: 'is missing: it must be a text.' },
      { path: 'wrong', message: 'must be a text.' },
    ])
  })

  it.each([[{}], [{ flag: undefined }]])('falls back when an optional field is left out: %j', (source) => {
    const reading = new OptionsReader(source, '')
    expect(reading.optional('flag', true, isBoolean, 'must be true or false.')).toBe(true)
    expect(reading.issues).toEqual([])
  })

  it('does not fall back over a wrong value without a word', () => {
    const reading = new OptionsReader({ flag: 'yes' }, '')
    reading.optional('flag', true, isBoolean, 'must be true or false.')
    expect(reading.issues).toEqual([{ path: 'flag', message: 'must be true or false.' }])
  })

  it('names fields by their full path', () => {
    const reading = new OptionsReader({}, 'clients[2]')
    reading.wrong('redirect_uris[1]', 'must use https.')
    expect(reading.issues[0]!.path).toBe('clients[2].redirect_uris[1]')
    expect(new OptionsReader({}, '').at('issuer')).toBe('issuer')
  })

  it.each([[undefined], [null], ['text'], [[]], [7]])('wants an object, not %j', (source) => {
    expect(new OptionsReader(source, '').issues).toEqual([{ path: 'options', message: 'must be an object.' }])
    expect(new OptionsReader(source, 'pages').issues).toEqual([
      { path: 'pages', message: 'must be an object.' },
    ])
  })

  it('adds to the mistakes of another reading', () => {
    const issues: ConfigurationIssue[] = []
    new OptionsReader({}, 'a', issues).wrong('x', 'is wrong.')
    new OptionsReader({}, 'b', issues).wrong('y', 'is wrong.')
    expect(issues.map(({ path }) => path)).toEqual(['a.x', 'b.y'])
  })

  it('refuses names that nothing asked for and offers the known ones', () => {
    const reading = new OptionsReader({ issuer: 'x', isuer: 'y', other: 'z' }, '')
    reading.take('issuer')
    reading.take('absent')
    reading.refuseUnknown()
    expect(reading.issues).toEqual([
      {
        path: 'isuer',
        message: 'is not known here. Did you mean issuer? The known names are absent, issuer.',
      },
      { path: 'other', message: 'is not known here; the known names are absent, issuer.' },
    ])
  })

  it('refuses a field that is none with a cure of its own, once and only where it is given', () => {
    const reading = new OptionsReader({ secret: 'x', secrets: 'y', gone: undefined }, '')
    for (const key of ['secret', 'absent', 'gone']) reading.refuse(key, 'belongs elsewhere.')
    reading.refuseUnknown()
    expect(reading.issues).toEqual([
      { path: 'secret', message: 'belongs elsewhere.' },
      { path: 'secrets', message: 'is not known here; the known names are .' },
    ])
  })

  it('reads own fields only, and sees __proto__ among them', () => {
    const reading = new OptionsReader(Object.create({ inherited: 'x' }), '')
    expect(['inherited', 'constructor', '__proto__'].map((key) => reading.take(key))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    const hostile = new OptionsReader(JSON.parse('{ "__proto__": { "admin": true } }'), '')
    hostile.refuseUnknown()
    expect(hostile.issues.map(({ path }) => path)).toEqual(['__proto__'])
  })

  it('settles when there is no mistake, and throws them all when there is one', () => {
    const reading = new OptionsReader({}, '')
    expect(() => reading.throwIssues('The options:')).not.toThrow()
    reading.wrong('a', 'is wrong.')
    reading.wrong('b', 'is wrong.')
    expect(() => reading.throwIssues('The options:')).toThrow(
      new ConfigurationError('The options:', reading.issues),
    )
  })
})

describe('the acceptors', () => {
  const values = [
    '',
    'x',
    [],
    ['x'],
    ['x', ''],
    ['x', 7],
    {},
    null,
    undefined,
    7,
    0.5,
    0,
    -1,
    Infinity,
    NaN,
    true,
    false,
  ]
  it.each([
    ['isRecord', isRecord, [{}]],
    ['isText', isText, ['x']],
    ['isTexts', isTexts, [[], ['x']]],
    ['isBoolean', isBoolean, [true, false]],
  ] as const)('%s accepts what it says', (_name, accepts, expected) => {
    expect(values.filter((value) => accepts(value))).toEqual(expected)
  })
})

const options = [
  'accessTokenLifetime',
  'authorizationCodeLifetime',
  'clients',
  'clock',
  'issuer',
  'resourceOwner',
  'scopes',
  'store',
  'storeDeadline',
]
const fields = ['client_id', 'client_name', 'client_secret_hashes', 'client_type', 'redirect_uris', 'scope']

describe('the nearest name', () => {
  it.each([
    ['isuer', 'issuer'],
    ['isseur', 'issuer'],
    ['Issuer', 'issuer'],
    ['client', 'clients'],
    ['scope', 'scopes'],
    ['accessTokenLifeTime', 'accessTokenLifetime'],
    ['access_token_lifetime', 'accessTokenLifetime'],
    ['accessToken', 'accessTokenLifetime'],
    ['tore', 'store'],
    ['ownerResource', undefined],
    ['cors', undefined],
    ['x', undefined],
    ['', undefined],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])('to the option %j is %j', (misspelt, nearest) => {
    expect(nearestName(misspelt, options)).toBe(nearest)
  })

  it.each([
    ['clientId', 'client_id'],
    ['redirect_uri', 'redirect_uris'],
    ['redirectUris', 'redirect_uris'],
    ['client_secret_hash', 'client_secret_hashes'],
    ['scopes', 'scope'],
    ['clientname', 'client_name'],
    ['type', undefined],
  ])('to the registered field %j is %j', (misspelt, nearest) => {
    expect(nearestName(misspelt, fields)).toBe(nearest)
  })

  it('is not looked for where the given one is as long as no name is', () => {
    expect(nearestName('issuer'.repeat(100_000), options)).toBeUndefined()
  })
})
