import {
  metadataUrlOf,
  OwnResource,
  protectedResourceMetadata,
  readMembers,
} from '../../lib/endpoints/protected-resource-metadata'
import { OptionsReader } from '../../lib/primitives/options-reader'

const api = {
  uri: 'https://api.example/mcp',
  issuer: 'https://auth.example',
  scopes: ['a', 'b'],
  name: 'Notes',
  documentation: 'https://api.example/docs',
}

function issuesIn(members: unknown, scopes: readonly string[] = api.scopes) {
  const reading = new OptionsReader({ members }, '')
  readMembers(reading, { ...api, scopes })
  return reading.issues
}

describe('the URL of the metadata of a resource', () => {
  it.each([
    ['https://api.example', 'https://api.example/.well-known/oauth-protected-resource'],
    ['https://api.example/', 'https://api.example/.well-known/oauth-protected-resource'],
    ['https://api.example/?a=b', 'https://api.example/.well-known/oauth-protected-resource?a=b'],
    ['https://api.example/mcp', 'https://api.example/.well-known/oauth-protected-resource/mcp'],
    ['https://api.example/mcp/', 'https://api.example/.well-known/oauth-protected-resource/mcp/'],
    ['https://api.example/a/b?c=d', 'https://api.example/.well-known/oauth-protected-resource/a/b?c=d'],
    ['https://api.example:444/a', 'https://api.example:444/.well-known/oauth-protected-resource/a'],
    ['http://localhost:3000/a', 'http://localhost:3000/.well-known/oauth-protected-resource/a'],
    ['http://[::1]:3000/a', 'http://[::1]:3000/.well-known/oauth-protected-resource/a'],
  ])('of %s is %s', (resource, url) => {
    expect(metadataUrlOf(resource)?.href).toBe(url)
  })

  it.each([
    'https://ada:secret@api.example/mcp',
    'http://api.example',
    'urn:example:api',
    'api',
    '',
    'ftp://api.example',
    'com.example:/mcp',
  ])('does not exist for %j', (resource) => {
    expect(metadataUrlOf(resource)).toBeUndefined()
  })

  it.each([
    'https://api.example/a"b',
    'https://api.example/a\\b',
    'https://api.example/?"',
    'https://a.example/\r\n',
  ])('of %j has no character that ends a quoted string', (resource) => {
    expect(metadataUrlOf(resource)?.href).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/)
  })
})

describe('the metadata of a resource', () => {
  it('has what the server knows, and leaves out what it does not know', () => {
    expect(protectedResourceMetadata(api, {})).toEqual({
      scopes_supported: ['a', 'b'],
      resource_name: 'Notes',
      resource_documentation: 'https://api.example/docs',
      resource: 'https://api.example/mcp',
      authorization_servers: ['https://auth.example'],
      bearer_methods_supported: ['header'],
    })
    const bare = { ...api, scopes: [], name: undefined, documentation: undefined }
    expect(Object.keys(protectedResourceMetadata(bare, {}))).toEqual([
      'resource',
      'authorization_servers',
      'bearer_methods_supported',
    ])
  })

  it('prefers the members of the host, except for the issuers', () => {
    const members = { resource_name: 'My notes', scopes_supported: ['a'], resource: 'x' }
    expect(protectedResourceMetadata(api, members)).toMatchObject({
      resource_name: 'My notes',
      scopes_supported: ['a'],
      resource: 'https://api.example/mcp',
    })
  })

  it.each<[unknown, string]>([
    [null, 'members'],
    [7, 'members'],
    [['resource_name'], 'members'],
    [{ resource_name: 7 }, 'members'],
    [{ resource_name: '' }, 'members'],
    [{ x: { y: 1 } }, 'members'],
    [{ resource: 'https://evil.example' }, 'members.resource'],
    [{ authorization_servers: ['https://evil.example'] }, 'members.authorization_servers'],
    [{ bearer_methods_supported: ['query'] }, 'members.bearer_methods_supported'],
    [{ resource_documentation: 'docs' }, 'members.resource_documentation'],
    [{ resource_policy_uri: ['https://a.example'] }, 'members.resource_policy_uri'],
    [{ resource_tos_uri: 'javascript:alert(1)' }, 'members.resource_tos_uri'],
    [{ scopes_supported: 'a' }, 'members.scopes_supported'],
    [{ scopes_supported: [] }, 'members.scopes_supported'],
    [{ scopes_supported: ['a b'] }, 'members.scopes_supported'],
    [{ scopes_supported: ['a', 'c'] }, 'members.scopes_supported'],
    // The consent page would show another name.
    [{ resource_name: 'My notes' }, 'members.resource_name'],
  ])('refuses the members %j', (members, path) => {
    expect(issuesIn(members).map((issue) => issue.path)).toEqual([path])
  })

  it('takes any scope and name where only another server knows them, and undefined for left out', () => {
    expect(issuesIn({ scopes_supported: ['c'], resource_name: 'My notes' }, [])).toEqual([])
    expect(issuesIn({ resource_name: undefined })).toEqual([])
    expect(issuesIn(undefined)).toEqual([])
  })
})

test('the resource of a guard alone names its metadata once the host serves it', () => {
  const own = new OwnResource(api.uri, false)
  expect(own.metadataUrl).toBeUndefined()
  own.publish()
  expect(own.metadataUrl).toBe('https://api.example/.well-known/oauth-protected-resource/mcp')
  expect(new OwnResource(api.uri, true).metadataUrl).toBe(own.metadataUrl)
})
