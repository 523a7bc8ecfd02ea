import { resolveOptions } from '../../lib/config/resolve-options'
import type { ConfigurationIssue } from '../../lib/protocol/configuration'
import { createAuthorizationServer } from '../../lib/server/authorization-server'
import { memoryStore } from '../../lib/stores/memory-store'
import { mistakesWith } from '../support/rooms/mistakes'
import { callback, optionsWith, printer } from '../support/rooms/registrations'

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
      login: '/login',
      authorizationPath: '/authorize',
      tokenPath: '/token',
      revocationPath: '/revoke',
      introspectionPath: '/introspect',
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
      consentPage: () => undefined,
      errorPage: () => undefined,
      clock: () => 7,
      storeDeadline: 2,
      closeDeadline: 3,
    }
    const settings = resolveOptions(
      optionsWith({ ...given, defaultScope: 'photos.write photos.read', accessTokenLifetime: 5 }),
    )
    expect(settings).toMatchObject({
      ...given,
      defaultScope: ['photos.write', 'photos.read'],
      lifetimes: { accessToken: 5 },
    })
    expect(settings.store).toBe(given.store)
    expect([...settings.scopes]).toEqual([
      ['photos.read', 'See your photos'],
      ['photos.write', 'Change your photos'],
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
          'must be one that processes share and restarts survive, such as redisStore({ url }); or say memoryStore({ allowInProduction: true }).',
      },
    ])
  })

  it('tell of it together with every other mistake', () => {
    const paths = issuesIn('production', { issuer: 'x', pkce: 'x' }).map((mistake) => mistake.path)
    expect(paths).toEqual(['issuer', path, 'pkce'])
  })

  it('take any store that was chosen', () => {
    expect(issuesIn('production', { store: memoryStore({ allowInProduction: true }) })).toEqual([])
  })

  it('tell of a wrong store once', () => {
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
