import { implicit } from '../../lib/authorization-endpoint/response-types'
import { resolveOptions } from '../../lib/config/resolve-options'
import type { ConfigurationIssue } from '../../lib/primitives/options-reader'
import { createAuthorizationServer } from '../../lib/server/authorization-server'
import { memoryStore } from '../../lib/stores/memory-store'
import { mistakesWith, pathsWith } from '../support/rooms/mistakes'
import { callback, optionsWith, phone, printer } from '../support/rooms/registrations'

/** The mistakes that are told where NODE_ENV is this. */
function issuesIn(
  environment: string,
  bend: Readonly<Record<string, unknown>>,
): readonly ConfigurationIssue[] {
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = environment
  try {
    return mistakesWith(bend)
  } finally {
    process.env['NODE_ENV'] = before
  }
}

describe('settings', () => {
  it('have a value for each option that was left out', () => {
    expect(resolveOptions(optionsWith())).toMatchObject({
      issuer: 'http://localhost',
      mount: '',
      tlsRequired: false,
      defaultScope: [],
      resources: undefined,
      implied: undefined,
      guards: { challenge: { realm: 'oauth', attributes: new Map() }, authInfo: false, cors: undefined },
      login: '/login',
      authorizationPath: '/authorize',
      tokenPath: '/token',
      revocationPath: '/revoke',
      introspectionPath: '/introspect',
      endpoints: [],
      cors: '*',
      storeDeadline: 0.5,
      closeDeadline: 10,
      clock: Date.now,
      consentPage: undefined,
      errorPage: undefined,
      lifetimes: {
        authorizationRequest: 600,
        authorizationCode: 60,
        accessToken: 3600,
        refreshToken: 2_592_000,
        refreshTokenGrace: 30,
      },
      extensions: [{ name: 'pkce' }],
    })
  })

  it('are what was given', () => {
    const given = {
      login: '/enter',
      store: memoryStore(),
      clock: () => 7,
      storeDeadline: 2,
      closeDeadline: 3,
    }
    const pages = { consent: () => undefined, error: () => undefined }
    const settings = resolveOptions(
      optionsWith({
        ...given,
        pages,
        defaultScope: 'photos.write photos.read',
        lifetimes: { accessToken: 5 },
      }),
    )
    expect(settings).toMatchObject({
      ...given,
      consentPage: pages.consent,
      errorPage: pages.error,
      defaultScope: ['photos.write', 'photos.read'],
      lifetimes: { accessToken: 5 },
    })
    expect(settings.store).toBe(given.store)
    const plain = { group: undefined, weight: 'read', optional: false }
    expect([...settings.scopes]).toEqual([
      ['photos.read', { description: 'See your photos', ...plain }],
      ['photos.write', { description: 'Change your photos', ...plain }],
    ])
  })

  it('are frozen', () => {
    const settings = resolveOptions(optionsWith())
    expect(Object.isFrozen(settings)).toBe(true)
    expect(Reflect.set(settings, 'issuer', 'https://evil.example')).toBe(false)
    expect(settings.issuer).toBe('http://localhost')
  })

  it('put guests behind PKCE, in their order', () => {
    const extensions = [{ name: 'b' }, { name: 'a' }]
    expect(resolveOptions(optionsWith({ extensions })).extensions.map(({ name }) => name)).toEqual([
      'pkce',
      'b',
      'a',
    ])
  })

  it('do not change with what the host does to its options afterwards', () => {
    const scopes: Record<string, string> = { 'photos.read': 'See', 'photos.write': 'Change' }
    const extensions = [{ name: 'a' }]
    const settings = resolveOptions(optionsWith({ scopes, extensions }))
    scopes['admin'] = 'Everything'
    extensions.push({ name: 'b' })
    expect([...settings.scopes.keys()]).toEqual(['photos.read', 'photos.write'])
    expect(settings.extensions).toHaveLength(2)
  })

  it('hold what the host does to a registration afterwards to the same rules', async () => {
    const registration = { ...printer, redirect_uris: [callback], grant_types: [...printer.grant_types] }
    const { findClient } = resolveOptions(optionsWith({ clients: [registration] }))
    registration.redirect_uris.push('javascript:alert(1)')
    registration.grant_types.push('password')
    await expect(async () => findClient(printer.client_id)).rejects.toThrow(
      'must not use the scheme javascript:',
    )
  })
})

describe('settings in production', () => {
  const path = 'store'

  it('need a store', () => {
    expect(issuesIn('production', {})).toEqual([
      {
        path,
        message:
          'must survive restarts and be shared by all processes, because NODE_ENV is production: use redisStore({ url }), or allow memory: memoryStore({ allowInProduction: true }).',
      },
    ])
  })

  it('report it together with every other mistake', () => {
    const paths = issuesIn('production', { issuer: 'x', pkce: 'x' }).map((mistake) => mistake.path)
    expect(paths).toEqual(['issuer', path, 'pkce'])
  })

  it('take any store that was chosen', () => {
    expect(issuesIn('production', { store: memoryStore({ allowInProduction: true }) })).toEqual([])
  })

  it('report a wrong store once', () => {
    expect(issuesIn('production', { store: {} })).toHaveLength(1)
  })

  it.each(['development', 'test', ''])('need none where NODE_ENV is %j', (environment) => {
    expect(issuesIn(environment, {})).toEqual([])
  })
})

describe('createAuthorizationServer', () => {
  it('throws what resolveOptions throws', () => {
    expect(() => createAuthorizationServer(optionsWith({ issuer: 'x' }))).toThrow(
      'issuer must be an absolute URL',
    )
  })
})

const named = (name: string) => ({ ...implicit(), name })

describe('options that belong together', () => {
  it.each([
    'photos.print',
    'photos.read photos.print',
    'photos.read  photos.write',
    ' photos.read',
    'PHOTOS.READ',
  ])('the default scope %j is not of this server', (defaultScope) => {
    expect(mistakesWith({ defaultScope })).toEqual([
      { path: 'defaultScope', message: 'must hold scopes of this server: photos.read, photos.write.' },
    ])
  })

  it.each(['a b', '', 'a"b', 'a\\b', 'é', 'a\tb'])('%j is no scope token', (token) => {
    const scopes = { ...optionsWith().scopes, [token]: 'Something' }
    expect(mistakesWith({ scopes })).toEqual([
      { path: 'scopes', message: expect.stringContaining(`names "${token}", which is not a scope token`) },
    ])
  })

  it.each([[{ token: '/authorize' }], [{ authorization: '/token' }], [{ authorization: '/x', token: '/x' }]])(
    '%j: two endpoints at one path',
    (paths) => {
      expect(mistakesWith({ paths })).toEqual([
        { path: 'paths.token', message: 'must differ from paths.authorization.' },
      ])
    },
  )

  it.each([
    [{ revocation: '/token' }, 'revocation', 'token'],
    [{ introspection: '/revoke' }, 'introspection', 'revocation'],
    [{ token: '/x', introspection: '/x' }, 'introspection', 'token'],
    [{ introspection: '/authorize' }, 'introspection', 'authorization'],
  ])('%j: one path for %s and %s', (paths, later, earlier) => {
    expect(mistakesWith({ paths })).toEqual([
      { path: `paths.${later}`, message: `must differ from paths.${earlier}.` },
    ])
  })

  it.each([
    [['pkce'], 0],
    [['resource-indicators'], 0],
    [['a', 'b', 'a'], 2],
  ])('extensions of the names %j', (names, index) => {
    const extensions = names.map((name) => ({ name }))
    expect(mistakesWith({ extensions })).toEqual([
      {
        path: `extensions[${index}].name`,
        message: `is "${names[index]}", which another extension has already.`,
      },
    ])
  })
})

describe('response types', () => {
  it.each(['token', 'code id_token token', 'none', 'x_1'])('may be named %j', (name) => {
    expect(mistakesWith({ responseTypes: [named(name)] })).toEqual([])
  })

  it.each([' token', 'token ', 'code  token', 'code\ttoken', 'code-token', 'tökn', 'token token', 'a\n'])(
    'are refused with the name %j',
    (name) => {
      expect(mistakesWith({ responseTypes: [implicit(), named(name)] })).toEqual([
        {
          path: 'responseTypes[1].name',
          message: `is "${name}", but must be letters, digits and _; several values, each once, with one space between two.`,
        },
      ])
    },
  )

  it.each([[['code']], [['token', 'token']], [['code token', 'token code']]])(
    'are refused when two have one name: %j',
    (names) => {
      expect(mistakesWith({ responseTypes: names.map(named) })).toEqual([
        {
          path: `responseTypes[${names.length - 1}].name`,
          message: `is "${names.at(-1)}", which another response type has already. The order of the values does not count.`,
        },
      ])
    },
  )

  it('bring the grant types that clients may have', () => {
    const clients = [{ ...printer, grant_types: ['implicit'], response_types: ['token'] }]
    expect(mistakesWith({ clients, responseTypes: [implicit()] })).toEqual([])
    expect(pathsWith({ clients })).toEqual(['clients[0].grant_types', 'clients[0].response_types'])
  })
})

describe('options that only look right', () => {
  it.each([
    'atAuthorizationRequest',
    'atTokenRequest',
    'atResourceRequest',
    'introspect',
    'access',
    'authorizationParameters',
    'tokenParameters',
    'credentialParameters',
  ])('are refused: an extension whose %s is of the wrong kind would break every request', (part) => {
    for (const wrong of [7, null, 'x', {}, [7]])
      expect({ wrong, paths: pathsWith({ extensions: [{ name: 'x', [part]: wrong }] }) }).toEqual({
        wrong,
        paths: ['extensions'],
      })
  })

  it.each(['größe', 'a"b', 'a\\b', 'a b', ''])(
    'an extension has no parameter %j, which no error could name',
    (name) => {
      expect(pathsWith({ extensions: [{ name: 'x', tokenParameters: [name] }] })).toEqual(['extensions'])
    },
  )

  it.each([{ resourceOwner: 7 }, { responseTypes: 7 }])(
    '%j hides no scope that a client cannot have',
    (bend) => {
      const clients = [{ ...phone, scope: 'photos.print' }]
      expect(pathsWith({ ...bend, clients })).toEqual([...Object.keys(bend), 'clients[0].scope'])
    },
  )

  it('a login with a fragment would lose the way back', () => {
    expect(pathsWith({ login: '/login#top' })).toEqual(['login'])
  })

  it.each(['//another.example/login', '/\\another.example/login'])(
    'are refused: a login at %s, to a browser, is at another host',
    (login) => {
      expect(pathsWith({ login })).toEqual(['login'])
    },
  )

  it('are refused: a deadline longer than a timer can keep would be one of a millisecond', () => {
    expect(pathsWith({ storeDeadline: 2 ** 31 / 1000 })).toEqual(['storeDeadline'])
    expect(pathsWith({ storeDeadline: 60.001 })).toEqual(['storeDeadline'])
    expect(pathsWith({ storeDeadline: 60 })).toEqual([])
  })

  it.each(['accessToken', 'refreshToken', 'authorizationRequest'])(
    'are refused: lifetimes.%s of more than ten years, which at last leads to times that no store can keep',
    (key) => {
      const tenYears = 10 * 365 * 24 * 3600
      expect(pathsWith({ lifetimes: { [key]: tenYears } })).toEqual([])
      for (const lifetime of [tenYears + 1, Number.MAX_SAFE_INTEGER])
        expect(pathsWith({ lifetimes: { [key]: lifetime } })).toEqual([`lifetimes.${key}`])
    },
  )

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['scopes', { scopes: null }, 'scopes'],
    ['a client type', { clients: [phone, { ...printer, client_type: 'web' }] }, 'clients[1].client_type'],
    ['a scope of a client', { scopes: { 'a b': 'x' }, clients: [{ ...phone, scope: 'a b' }] }, 'scopes'],
  ])('are reported once: a wrong %s is no mistake of the options that depend on it', (_what, bend, path) => {
    expect(pathsWith(bend)).toEqual([path])
  })
})
