import {
  ConfigurationError,
  isBoolean,
  isRecord,
  isText,
  isTexts,
  Reading,
  type Mistake,
} from '../../lib/protocol/configuration'

describe('ConfigurationError', () => {
  it('lists every mistake with its path and cure', () => {
    const mistakes: readonly Mistake[] = [
      { path: 'issuer', problem: 'must be an https URL.' },
      { path: 'clients[0].scope', problem: 'is missing: it must list what the client may ask for.' },
    ]
    const error = new ConfigurationError('The server cannot start:', mistakes)
    expect(error.mistakes).toBe(mistakes)
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

describe('Reading', () => {
  it('reads a required field', () => {
    const reading = new Reading({ name: 'x' }, '')
    expect(reading.required('name', '', isText, 'must be a text.')).toBe('x')
    expect(reading.mistakes).toEqual([])
  })

  it('tells a missing field from a wrong one', () => {
    const reading = new Reading({ wrong: 7 }, '')
    expect(reading.required('missing', 'placeholder', isText, 'must be a text.')).toBe('placeholder')
    expect(reading.required('wrong', 'placeholder', isText, 'must be a text.')).toBe('placeholder')
    expect(reading.mistakes).toEqual([
      { path: 'missing', problem: 'is missing: it must be a text.' },
      { path: 'wrong', problem: 'must be a text.' },
    ])
  })

  it.each([[{}], [{ flag: undefined }]])('falls back when an optional field is left out: %j', (source) => {
    const reading = new Reading(source, '')
    expect(reading.optional('flag', true, isBoolean, 'must be true or false.')).toBe(true)
    expect(reading.mistakes).toEqual([])
  })

  it('does not fall back over a wrong value without a word', () => {
    const reading = new Reading({ flag: 'yes' }, '')
    reading.optional('flag', true, isBoolean, 'must be true or false.')
    expect(reading.mistakes).toEqual([{ path: 'flag', problem: 'must be true or false.' }])
  })

  it('names fields by their full path', () => {
    const reading = new Reading({}, 'clients[2]')
    reading.wrong('redirect_uris[1]', 'must use https.')
    expect(reading.mistakes[0]!.path).toBe('clients[2].redirect_uris[1]')
    expect(new Reading({}, '').at('issuer')).toBe('issuer')
  })

  it.each([[undefined], [null], ['text'], [[]], [7]])('wants an object, not %j', (source) => {
    expect(new Reading(source, '').mistakes).toEqual([{ path: 'options', problem: 'must be an object.' }])
    expect(new Reading(source, 'pages').mistakes).toEqual([{ path: 'pages', problem: 'must be an object.' }])
  })

  it('adds to the mistakes of another reading', () => {
    const mistakes: Mistake[] = []
    new Reading({}, 'a', mistakes).wrong('x', 'is wrong.')
    new Reading({}, 'b', mistakes).wrong('y', 'is wrong.')
    expect(mistakes.map(({ path }) => path)).toEqual(['a.x', 'b.y'])
  })

  it('refuses names that nothing asked for and offers the known ones', () => {
    const reading = new Reading({ issuer: 'x', isuer: 'y', other: 'z' }, '')
    reading.take('issuer')
    reading.take('absent')
    reading.refuseUnknown()
    expect(reading.mistakes).toEqual([
      {
        path: 'isuer',
        problem: 'is not known here. Did you mean issuer? The known names are absent, issuer.',
      },
      { path: 'other', problem: 'is not known here; the known names are absent, issuer.' },
    ])
  })

  it('refuses a field that is none with a cure of its own, once and only where it is given', () => {
    const reading = new Reading({ secret: 'x', secrets: 'y', gone: undefined }, '')
    for (const key of ['secret', 'absent', 'gone']) reading.refuse(key, 'belongs elsewhere.')
    reading.refuseUnknown()
    expect(reading.mistakes).toEqual([
      { path: 'secret', problem: 'belongs elsewhere.' },
      { path: 'secrets', problem: 'is not known here; the known names are .' },
    ])
  })

  it('reads own fields only, and sees __proto__ among them', () => {
    const reading = new Reading(Object.create({ inherited: 'x' }), '')
    expect(['inherited', 'constructor', '__proto__'].map((key) => reading.take(key))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    const hostile = new Reading(JSON.parse('{ "__proto__": { "admin": true } }'), '')
    hostile.refuseUnknown()
    expect(hostile.mistakes.map(({ path }) => path)).toEqual(['__proto__'])
  })

  it('settles when there is no mistake, and throws them all when there is one', () => {
    const reading = new Reading({}, '')
    expect(() => reading.settle('The options:')).not.toThrow()
    reading.wrong('a', 'is wrong.')
    reading.wrong('b', 'is wrong.')
    expect(() => reading.settle('The options:')).toThrow(
      new ConfigurationError('The options:', reading.mistakes),
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
