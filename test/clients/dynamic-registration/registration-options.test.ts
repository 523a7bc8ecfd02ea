import { memoryStore, redisStore, type AuthorizationServerOptions } from '../../../lib/index'
import { resolveOptions } from '../../../lib/config/resolve-options'
import { mistakesWith } from '../../support/rooms/mistakes'
import { optionsWith } from '../../support/rooms/registrations'

const day = 24 * 3600
const resourceOwner = () => 'alice'
const mistakesOf = (dynamicRegistration: object, bend: Partial<AuthorizationServerOptions> = {}) =>
  mistakesWith({ resourceOwner, ...bend, dynamicRegistration })

const settingsWith = (bend: Partial<AuthorizationServerOptions>) =>
  resolveOptions(optionsWith({ resourceOwner, ...bend })).dynamicRegistration

describe('the option dynamicRegistration', () => {
  it.each([{}, { dynamicRegistration: false as const }])('is off with %j', (bend) => {
    expect(settingsWith(bend)).toBeUndefined()
  })

  it('has defaults', () => {
    expect(settingsWith({ dynamicRegistration: {} })).toMatchObject({
      scope: ['photos.read', 'photos.write'],
      registerAllScopes: false,
      grantTypes: ['authorization_code', 'refresh_token'],
      verifyInitialAccessToken: undefined,
      maximumClients: 10_000,
      unusedLifetime: 3600,
      uses: { lifetime: 90 * day },
      clientSecretLifetime: 90 * day,
      registrationPath: '/register',
      clientConfigurationPath: '/register/client',
    })
  })

  it('lets no client end before its longest token, which may be two days younger than the last note of a use', () => {
    const lifetimeWith = (bend: Partial<AuthorizationServerOptions>) =>
      settingsWith({ dynamicRegistration: {}, ...bend })?.uses.lifetime
    expect(lifetimeWith({ lifetimes: { refreshToken: 88 * day } })).toBe(90 * day)
    expect(lifetimeWith({ lifetimes: { refreshToken: 90 * day } })).toBe(92 * day)
    expect(lifetimeWith({ lifetimes: { accessToken: 400 * day } })).toBe(402 * day)
  })

  it.each([
    [
      'store',
      {},
      'must be a store of dynamic clients, with the functions find, add, update, remove and extend.',
    ],
    [
      'initialAccessToken',
      'secret',
      'must hold digests, never tokens: give the client_secret_hash of generateClientSecret(), a list of them, or a function.',
    ],
    [
      'initialAccessToken',
      [],
      'must hold digests, never tokens: give the client_secret_hash of generateClientSecret(), a list of them, or a function.',
    ],
    ['maximumClients', 0, 'must be a whole number, 1 to 100000.'],
    ['unusedLifetime', 59, 'must be a whole number, 60 to 315360000.'],
    ['lifetime', day, 'must be a whole number, 172800 to 315360000.'],
    ['clientSecretLifetime', '1', 'must be a whole number, 60 to 315360000.'],
    ['scope', 'unknown', 'must hold scopes of this server: photos.read, photos.write.'],
    ['scope', '', 'must be a text.'],
    ['registerAllScopes', 'yes', 'must be true or false.'],
    [
      'grantTypes',
      ['password'],
      'lists "password", which this server does not offer; it offers authorization_code, refresh_token, client_credentials. To have it, add password() to the option grantTypes.',
    ],
    ['registrationPath', '/token', 'must differ from paths.token.'],
    ['registrationPath', '/.well-known/openid-configuration', 'must differ from the path of the metadata.'],
    ['clientConfigurationPath', '/register', 'must differ from dynamicRegistration.registrationPath.'],
    ['open', true, expect.stringContaining('is not known here')],
  ])('reports a wrong %s: %j', (name, value, message) => {
    expect(mistakesOf({ [name]: value })).toEqual([{ path: `dynamicRegistration.${name}`, message }])
  })

  it('refuses an endpoint of the host with the same path or name', () => {
    const own = { name: 'registration', path: '/register', handle: async () => ({ members: {} }) }
    expect(mistakesOf({}, { endpoints: [own] }).map(({ message }) => message)).toEqual([
      'must differ from endpoints[0].path.',
      'belongs to the endpoint registration, whose name endpoints[0] has.',
    ])
  })

  it('needs resource owners for codes', () => {
    const issues = mistakesWith({ clients: [], resourceOwner: undefined, dynamicRegistration: {} })
    expect(issues.map(({ path }) => path)).toEqual(['resourceOwner'])
    const machines = { grantTypes: ['client_credentials'] }
    expect(mistakesWith({ clients: [], resourceOwner: undefined, dynamicRegistration: machines })).toEqual([])
  })

  it('takes the dynamic clients of the store, and refuses memory in production', () => {
    const store = redisStore({ client: { call: async () => null } })
    const find = jest.spyOn(store.dynamicClients, 'find')
    void settingsWith({ store, dynamicRegistration: {} })?.store.find('x')
    expect(find).toHaveBeenCalledWith('x')
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      const inMemory = { store: memoryStore({ allowInProduction: true }) }
      expect(mistakesOf({}, inMemory).map(({ path }) => path)).toEqual(['dynamicRegistration.store'])
    } finally {
      process.env['NODE_ENV'] = before
    }
  })
})
