import { nearestName } from '../../lib/protocol/configuration'

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
