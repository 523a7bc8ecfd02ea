import { AuthorizationCode, ClientCredentials } from 'simple-oauth2'
import { startDemo, type Demo } from '../../demo/demo'
import { freePorts } from '../support/clients/free-ports'
import { statusOfPhotos } from '../support/clients/photos'
import { ResourceOwner } from '../support/clients/resource-owner'

let demo: Demo

beforeAll(async () => {
  demo = await startDemo({ ports: freePorts })
})
afterAll(() => demo.stop())

test.each(['header', 'body'] as const)(
  'simple-oauth2 completes code, guarded call and refresh with the secret in the %s',
  async (authorizationMethod) => {
    const { redirect_uri, client_id, client_secret } = demo.clients.photoBook
    const client = new AuthorizationCode({
      client: { id: client_id, secret: client_secret },
      auth: { tokenHost: demo.authorizationServer, tokenPath: '/token', authorizePath: '/authorize' },
      options: { authorizationMethod },
    })
    const url = client.authorizeURL({ redirect_uri, scope: 'photos:read photos:write', state: 'a state' })
    const answer = await new ResourceOwner(demo).decide(url)
    expect(answer.searchParams.get('state')).toBe('a state')

    const code = answer.searchParams.get('code') ?? ''
    const access = await client.getToken({ code, redirect_uri, scope: 'photos:read photos:write' })
    expect(access.expired()).toBe(false)
    expect(await statusOfPhotos(demo, access.token['access_token'])).toBe(200)

    const refreshed = await access.refresh({ scope: 'photos:read' })
    expect(refreshed.token['scope']).toBe('photos:read')
    expect(await statusOfPhotos(demo, refreshed.token['access_token'])).toBe(200)
  },
)

test('simple-oauth2 completes client credentials', async () => {
  const { client_id, client_secret } = demo.clients.nightlyReport
  const client = new ClientCredentials({
    client: { id: client_id, secret: client_secret },
    auth: { tokenHost: demo.authorizationServer, tokenPath: '/token' },
  })
  const access = await client.getToken({ scope: 'photos:read' })
  expect(await statusOfPhotos(demo, access.token['access_token'])).toBe(200)
})
