import { OptionsReader } from '../../../lib/primitives/options-reader'
import { comparable, readResources, Resources } from '../../../lib/extensions/resource-indicators/resources'

const scopes = ['a', 'b']

function read(options: Readonly<Record<string, unknown>>, known: readonly string[] | undefined = scopes) {
  const reading = new OptionsReader(options, '')
  const resources = readResources(reading, known, 3600)
  return { resources, issues: reading.issues }
}

const uri = 'https://api.example/mcp'

describe('two URIs name one resource', () => {
  it.each([
    ['https://api.example/mcp', 'HTTPS://API.Example/mcp'],
    ['https://api.example', 'https://api.example/'],
    ['https://api.example?x=1', 'https://api.example/?x=1'],
    ['https://api.example:8443', 'https://API.example:8443/'],
    ['http://[2001:db8::1]', 'http://[2001:DB8::1]/'],
    ['urn:example:notes', 'URN:example:notes'],
  ])('%s and %s', (one, other) => {
    expect(comparable(one)).toBe(comparable(other))
  })
})

describe('two URIs name two resources', () => {
  it.each([
    ['https://api.example/mcp', 'https://api.example/MCP'],
    ['https://api.example/mcp', 'https://api.example/mcp/'],
    ['https://api.example/', 'https://api.example:443/'],
    ['https://api.example/a', 'https://api.example/%61'],
    ['https://api.example/%2f', 'https://api.example/%2F'],
    ['https://api.example/a/../b', 'https://api.example/b'],
    ['https://api.example?X', 'https://api.example?x'],
    ['https://api.example/?', 'https://api.example/'],
    ['https://api.example', 'http://api.example'],
    ['https://api.example', 'https://api.example.'],
    ['https://api.example', 'https://me@api.example'],
    ['https://Me@api.example', 'https://me@api.example'],
    ['urn:example:notes', 'urn:example:Notes'],
    ['urn:example:notes', 'urn:EXAMPLE:notes'],
    ['https:api.example', 'https://api.example'],
  ])('%s and %s', (one, other) => {
    expect(comparable(one)).not.toBe(comparable(other))
  })
})

describe('resources', () => {
  it('are off by default', () => {
    expect(read({})).toEqual({ resources: undefined, issues: [] })
  })

  it('are found by each of their spellings, and named as the host wrote them', () => {
    const { resources, issues } = read({ resources: { 'https://API.example': { scopes: ['b', 'b'] } } })
    expect(issues).toEqual([])
    expect(resources?.find('HTTPS://api.EXAMPLE/')).toEqual({
      uri: 'https://API.example',
      scopes: ['b'],
      accessTokenLifetime: undefined,
      name: undefined,
      documentation: undefined,
    })
    expect(resources?.find('https://api.example/x')).toBeUndefined()
    expect(resources?.find('__proto__')).toBeUndefined()
  })

  it('have a default if there is one, or if the option names one of several', () => {
    const one = { [uri]: { scopes } }
    const two = { ...one, 'https://other.example': { scopes } }
    const defaultOf = (options: Readonly<Record<string, unknown>>) =>
      read(options).resources?.defaultResource?.uri
    expect(defaultOf({ resources: one })).toBe(uri)
    expect(defaultOf({ resources: two })).toBeUndefined()
    expect(defaultOf({ resources: two, defaultResource: 'https://OTHER.example/' })).toBe(
      'https://other.example',
    )
  })

  it('may have any scope where only the authorization server knows the scopes', () => {
    const reading = new OptionsReader({ resources: { [uri]: { scopes: ['z'] } } }, '')
    expect(readResources(reading, undefined, 3600)).toBeInstanceOf(Resources)
    expect(reading.issues).toEqual([])
  })
})

describe('a resource', () => {
  const scopesCure = "must be a list of scopes, such as ['notes:read'], at least one."
  const absolute = 'must be an absolute URI without a fragment, such as https://api.example.com/mcp.'
  const host = 'must name its host after //, without a user name and password.'
  const page = 'must be the URL of a page, such as https://example.com/docs/api.'
  const lifetime = 'must be whole seconds, 1 to 3600, lifetimes.accessToken of the server.'
  it.each<[string, unknown, string, string]>([
    ['/mcp', { scopes }, '', absolute],
    ['api.example', { scopes }, '', absolute],
    [`${uri}#`, { scopes }, '', absolute],
    [`${uri}#part`, { scopes }, '', absolute],
    ['https://api.example/ü', { scopes }, '', absolute],
    ['https:api.example', { scopes }, '', host],
    ['https://me:pw@api.example', { scopes }, '', host],
    [uri, 7, '', 'must be an object.'],
    [uri, { scopes: 'a b' }, '.scopes', scopesCure],
    [uri, { scopes: [] }, '.scopes', scopesCure],
    [uri, { scopes: ['a b'] }, '.scopes', scopesCure],
    [uri, { scopes: ['a', 'z'] }, '.scopes', 'must hold scopes of this server: a, b.'],
    [uri, { scopes, accessTokenLifetime: 0 }, '.accessTokenLifetime', lifetime],
    [uri, { scopes, accessTokenLifetime: 3601 }, '.accessTokenLifetime', lifetime],
    [uri, { scopes, name: '' }, '.name', 'must be a text.'],
    [uri, { scopes, documentation: 'javascript:alert(1)' }, '.documentation', page],
    [uri, { scopes, documentation: '/docs' }, '.documentation', page],
  ])('%s of %j is wrong at "%s"', (key, options, at, message) => {
    expect(read({ resources: { [key]: options } }).issues).toContainEqual({
      path: `resources["${key}"]${at}`,
      message,
    })
  })

  it('has no other options, and a second spelling is no second resource', () => {
    const { issues } = read({
      resources: { [uri]: { scopes, scope: 'a' }, 'https://API.example/mcp': { scopes } },
    })
    expect(issues.map(({ path }) => path)).toEqual([
      `resources["${uri}"].scope`,
      'resources["https://API.example/mcp"]',
    ])
  })
})

describe('the default resource', () => {
  it('must be one of the resources', () => {
    const wrong = [{ path: 'defaultResource', message: 'must be one of resources.' }]
    expect(read({ resources: { [uri]: { scopes } }, defaultResource: 'https://x.example' }).issues).toEqual(
      wrong,
    )
    expect(read({ defaultResource: uri }).issues).toEqual([
      { path: 'defaultResource', message: 'needs the option resources.' },
    ])
  })
})
