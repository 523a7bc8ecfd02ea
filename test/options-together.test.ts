import { mistakesWith, pathsWith } from './support/rooms/mistakes'
import { optionsWith, phone, printer } from './support/rooms/registrations'

describe('options that belong together', () => {
  it.each([
    'photos.print',
    'photos.read photos.print',
    'photos.read  photos.write',
    ' photos.read',
    'PHOTOS.READ',
  ])('the default scope %j is not of this server', (defaultScope) => {
    expect(mistakesWith({ defaultScope })).toEqual([
      { path: 'defaultScope', problem: 'must hold scopes of this server: photos.read, photos.write.' },
    ])
  })

  it.each(['a b', '', 'a"b', 'a\\b', 'é', 'a\tb'])('%j is no scope token', (token) => {
    const scopes = { ...optionsWith().scopes, [token]: 'Something' }
    expect(mistakesWith({ scopes })).toEqual([
      { path: 'scopes', problem: expect.stringContaining(`names "${token}", which is no scope token`) },
    ])
  })

  it.each([
    [{ tokenPath: '/authorize' }],
    [{ authorizationPath: '/token' }],
    [{ authorizationPath: '/x', tokenPath: '/x' }],
  ])('%j: two endpoints at one path', (bend) => {
    expect(mistakesWith(bend)).toEqual([
      { path: 'tokenPath', problem: 'must differ from authorizationPath.' },
    ])
  })

  it.each([[['pkce']], [['a', 'b', 'a']]])('extensions of the names %j', (names) => {
    const extensions = names.map((name) => ({ name }))
    expect(mistakesWith({ extensions })).toEqual([
      { path: 'extensions', problem: 'must have a name of its own each; "pkce" is taken.' },
    ])
  })

  it('an extension whose parts are of the wrong kind breaks every request', () => {
    for (const part of [
      'atAuthorizationRequest',
      'atRedemption',
      'authorizationParameters',
      'tokenParameters',
    ])
      expect({ part, paths: pathsWith({ extensions: [{ name: 'x', [part]: 7 }] }) }).toEqual({
        part,
        paths: [expect.stringMatching(/^extensions/)],
      })
  })

  it('a login at //another.example is no path', () => {
    expect(pathsWith({ login: '//another.example/login' })).toEqual(['login'])
  })

  it('a deadline longer than a timer can keep would be one of a millisecond', () => {
    expect(pathsWith({ storeDeadline: 2 ** 31 / 1000 })).toEqual(['storeDeadline'])
    expect(pathsWith({ storeDeadline: 60 })).toEqual([])
  })

  it('a lifetime that leads out of the whole numbers would make records that no store reads', () => {
    for (const key of ['accessTokenLifetime', 'refreshTokenLifetime', 'authorizationRequestLifetime'])
      expect({ key, paths: pathsWith({ [key]: Number.MAX_SAFE_INTEGER }) }).toEqual({ key, paths: [key] })
  })

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['scopes', { scopes: null }, 'scopes'],
    ['a client type', { clients: [phone, { ...printer, client_type: 'web' }] }, 'clients[1].client_type'],
    ['a scope of a client', { scopes: { 'a b': 'x' }, clients: [{ ...phone, scope: 'a b' }] }, 'scopes'],
  ])(
    '%s that is wrong is told once, and not again as a mistake of what rests on it',
    (_what, bend, path) => {
      expect(pathsWith(bend)).toEqual([path])
    },
  )
})
