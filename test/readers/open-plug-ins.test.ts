import type { PlugIn, PlugInParts, PlugInServer } from '../../lib/config/plug-in'
import { resolveOptions } from '../../lib/config/resolve-options'
import { mac } from '../../lib/extensions/token-types/mac'
import { createBearerGuard } from '../../lib/server/remote-guard'
import { memoryStore } from '../../lib/stores/memory-store'
import { whoami } from '../../docs/examples/whoami'
import { mistakesWith, pathsWith } from '../support/rooms/mistakes'
import { type Maker, mistakesOf } from '../support/rooms/mistakes-of'
import { optionsWith } from '../support/rooms/registrations'

const withParts = (parts: unknown, name = 'test') => ({ name, open: () => parts })
const grantType = (name: string) => ({ name, parameters: [], handle: async () => ({}) })
const method = { name: 'sealed', read: () => undefined, verify: async () => false }
const responseType = (name: string) => ({ name, grantTypes: [], mode: 'query', approve: () => undefined })
const signed = mac({ hosts: ['api.example.com'] })

/** What `open` sees when a server with these options is made. */
function viewWith(bend: Readonly<Record<string, unknown>>): PlugInServer {
  const seen: PlugInServer[] = []
  const plugIn: PlugIn = {
    name: 'test',
    open(server) {
      seen.push(server)
      return {}
    },
  }
  resolveOptions(optionsWith({ ...bend, plugIns: [plugIn] }))
  expect(seen).toHaveLength(1)
  const [server] = seen
  if (server === undefined) throw new Error('No plug-in was opened.')
  return server
}

describe('the option plugIns', () => {
  it.each([null, 7, 'test', {}, { name: 'test' }, { name: '', open: () => ({}) }, { open: () => ({}) }])(
    'refuses %j in place of a plug-in',
    (plugIn) => {
      expect(mistakesWith({ plugIns: [plugIn] })).toEqual([
        { path: 'plugIns[0]', message: 'must be a plug-in: name and open, optionally openInGuard.' },
      ])
    },
  )

  it('refuses a hook for guards that is no function, and a second plug-in of one name', () => {
    expect(pathsWith({ plugIns: [{ ...withParts({}), openInGuard: 7 }] })).toEqual(['plugIns[0]'])
    expect(mistakesWith({ plugIns: [withParts({}), withParts({})] })).toEqual([
      { path: 'plugIns[1].name', message: 'is "test", which another plug-in has already.' },
    ])
  })

  it.each([undefined, null, 7, [], Promise.resolve({})])('refuses %p as the parts of a plug-in', (parts) => {
    expect(mistakesWith({ plugIns: [withParts(parts)] })).toEqual([
      {
        path: 'plugIns[0]',
        message: 'must return an object of lists, such as { grantTypes }, and not a promise.',
      },
    ])
  })

  it('names the plug-in that cannot be opened, with its error, beside every other mistake', () => {
    const open = () => {
      throw new TypeError('The key is missing.')
    }
    expect(mistakesWith({ pkce: 'x', plugIns: [withParts({}), { name: 'b', open }] })).toEqual([
      { path: 'plugIns[1]', message: 'cannot be opened: The key is missing.' },
      expect.objectContaining({ path: 'pkce' }),
    ])
  })

  it('names the part that is not known, with the part that it may mean', () => {
    const [mistake] = mistakesWith({ plugIns: [withParts({ endpoint: [] })] })
    expect(mistake).toMatchObject({
      path: 'plugIns[0].endpoint',
      message: expect.stringContaining('Did you mean endpoints?'),
    })
  })

  it.each([
    ['grantTypes', [grantType('urn:x:1'), grantType('x')], 'grantTypes[1].name'],
    ['endpoints', [{ ...whoami, path: 'x' }], 'endpoints[0].path'],
    ['extensions', [{ name: 'pkce' }], 'extensions[0].name'],
    ['responseTypes', [responseType('token token')], 'responseTypes[0].name'],
    ['tokenTypes', [{ ...signed, scheme: 'a b' }], 'tokenTypes[0].scheme'],
    ['clientAuthenticationMethods', [{ ...method, name: 7 }], 'clientAuthenticationMethods[0].name'],
    ['grantTypes', 7, 'grantTypes'],
  ])('reads %s of a plug-in by the rules of the option, and names the path', (key, list, path) => {
    expect(pathsWith({ plugIns: [withParts({}, 'first'), withParts({ [key]: list })] })).toEqual([
      `plugIns[1].${path}`,
    ])
  })

  it.each([
    ['grantTypes', grantType('urn:x:1'), 'grantTypes[0].name'],
    ['extensions', { name: 'a' }, 'extensions[0].name'],
    ['responseTypes', responseType('token'), 'responseTypes[0].name'],
    ['clientAuthenticationMethods', method, 'clientAuthenticationMethods[0].name'],
    ['endpoints', whoami, 'endpoints[0].name'],
    ['tokenTypes', signed, 'tokenTypes[0].name'],
  ])('refuses one name twice in %s, among options and plug-ins', (key, part, path) => {
    const second = expect.arrayContaining([`plugIns[0].${path}`])
    expect(pathsWith({ [key]: [part], plugIns: [withParts({ [key]: [part] })] })).toEqual(second)
    const third = expect.arrayContaining([`plugIns[1].${path}`])
    const parts = { [key]: [part] }
    expect(pathsWith({ plugIns: [withParts(parts, 'a'), withParts(parts, 'b')] })).toEqual(third)
  })

  it('refuses the name of an endpoint of dynamic registration, and says which plug-in has it', () => {
    const endpoint = { ...whoami, name: 'registration', path: '/x' }
    expect(
      mistakesWith({ dynamicRegistration: {}, plugIns: [withParts({ endpoints: [endpoint] })] }),
    ).toEqual([
      {
        path: 'dynamicRegistration.registrationPath',
        message: 'belongs to the endpoint registration, whose name plugIns[0].endpoints[0] has.',
      },
    ])
  })

  it('refuses a second extension that publishes subjects, and one whose function is none', () => {
    const publishing = (name: string) => ({ name, publishedSubject: () => 'x' })
    const second = { plugIns: [withParts({ extensions: [publishing('b')] })] }
    expect(mistakesWith({ extensions: [publishing('a')], ...second })).toEqual([
      {
        path: 'plugIns[0].extensions[0].publishedSubject',
        message: 'is a function that another extension has already.',
      },
    ])
    expect(pathsWith({ extensions: [publishing('a'), publishing('b')] })).toEqual([
      'extensions[1].publishedSubject',
    ])
    expect(pathsWith({ extensions: [{ name: 'a', publishedSubject: 'x' }] })).toEqual(['extensions'])
  })

  it('puts the parts of plug-ins behind those of the options, in their order', () => {
    const open = (name: string): PlugInParts => ({ extensions: [{ name }] })
    const { extensions } = resolveOptions(
      optionsWith({
        extensions: [{ name: 'c' }],
        plugIns: [
          { name: 'b', open: () => open('b') },
          { name: 'a', open: () => open('a') },
        ],
      }),
    )
    expect(extensions.map(({ name }) => name)).toEqual(['pkce', 'c', 'b', 'a'])
  })
})

describe('a plug-in sees of the server that opens it', () => {
  it('the issuer, URLs below it, the time, the storage, and what a new record needs', () => {
    const store = memoryStore()
    const server = viewWith({ issuer: 'http://localhost/oauth', store, clock: () => 7999 })
    expect(server).toMatchObject({ issuer: 'http://localhost/oauth' })
    expect(server.urlOf('/push')).toBe('http://localhost/oauth/push')
    expect(server.now()).toBe(7)
    expect(server.random(3)).toHaveLength(3)
    expect(server.storage).toBe(store)
    expect(server.context()).toMatchObject({ now: 7, lifetimes: { authorizationRequest: 600 } })
  })

  it.each<[string, (server: PlugInServer) => unknown]>([
    ['findClient', (server) => server.findClient('a')],
    ['find', (server) => server.find('a')],
    ['commit', (server) => server.commit('a', () => ({ action: 'none', outcome: 1 }))],
    ['counters.add', (server) => server.counters.add('a', 1, 1)],
    ['counters.useOnce', (server) => server.counters.useOnce('a', 1, 'b')],
  ])('%s in requests only', (member, use) => {
    const open = (server: PlugInServer) => {
      void use(server)
      return {}
    }
    expect(mistakesWith({ plugIns: [{ name: 'test', open }] })).toEqual([
      {
        path: 'plugIns[0]',
        message: `cannot be opened: ${member}() needs the running server: call it in a request, and not in open().`,
      },
    ])
  })
})

describe('the option plugIns of createBearerGuard', () => {
  const guard: Maker = { make: createBearerGuard }
  const issuesWith = (...plugIns: readonly unknown[]) =>
    mistakesOf(guard, { issuer: 'http://localhost', store: memoryStore(), plugIns })

  it('opens no plug-in that has nothing for guards', () => {
    const open = jest.fn(() => ({}))
    expect(issuesWith({ name: 'test', open })).toEqual([])
    expect(open).not.toHaveBeenCalled()
  })

  it.each([
    ['does not warn', 'has no part for guards', {}, 0],
    ['warns', 'has one', { openInGuard: () => ({}) }, 1],
  ])('%s in production of counters in memory if a plug-in %s', (_what, _when, bend, times) => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    jest.replaceProperty(process, 'env', { ...process.env, NODE_ENV: 'production' })
    try {
      const store = { find: async () => undefined, save: async () => true, remove: async () => undefined }
      guard.make({ issuer: 'http://localhost', store, plugIns: [{ ...withParts({}), ...bend }] })
      const codes = warn.mock.calls.map((given) => JSON.stringify(given))
      expect(codes.filter((text) => text.includes('EAS_COUNTERS_IN_MEMORY'))).toHaveLength(times)
    } finally {
      jest.restoreAllMocks()
    }
  })

  it('reads the parts for guards by the rules of the options, and knows no others', () => {
    const openInGuard = () => ({ tokenTypes: [{ ...signed, name: 'a b' }], grantTypes: [] })
    expect(issuesWith({ ...withParts({}), openInGuard })).toMatchObject([
      { path: 'plugIns[0].tokenTypes[0].name' },
      { path: 'plugIns[0].grantTypes' },
    ])
  })

  it('names a plug-in that cannot be opened', () => {
    const openInGuard = () => 7
    expect(issuesWith({ ...withParts({}), openInGuard }, 7)).toMatchObject([
      { path: 'plugIns[0]' },
      { path: 'plugIns[1]' },
    ])
  })
})
