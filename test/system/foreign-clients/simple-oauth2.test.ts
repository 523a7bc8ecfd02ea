import { once } from 'node:events'
import { createServer } from 'node:http'
import { AuthorizationCode, ClientCredentials, ResourceOwnerPassword } from 'simple-oauth2'
import { startDemo, type Demo } from '../../../demo/demo'
import { freePorts } from '../../support/clients/free-ports'
import { statusOfPhotos } from '../../support/clients/photos'
import { ResourceOwner } from '../../support/clients/resource-owner'
import { application } from '../../support/flows/application'
import { oldPrint, PasswordCheck, wonderland, withPassword } from '../../support/flows/password'

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

test.each(['header', 'body'] as const)(
  'simple-oauth2 completes the password grant with the secret in the %s, and gets the error of a wrong password',
  async (authorizationMethod) => {
    const set = application(withPassword({ verify: new PasswordCheck().verify }))
    const server = createServer(set.app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const client = new ResourceOwnerPassword({
        client: { id: oldPrint.registration.client_id, secret: oldPrint.secret ?? '' },
        auth: { tokenHost: `http://127.0.0.1:${Object(server.address()).port}`, tokenPath: '/token' },
        options: { authorizationMethod },
      })
      const access = await client.getToken({ ...wonderland, scope: 'photos:read' })
      const { body } = await set.flow.photos(String(access.token['access_token']))
      expect(body).toMatchObject({ subject: 'subject of alice' })
      const refreshed = await access.refresh()
      expect((await set.flow.photos(String(refreshed.token['access_token']))).status).toBe(200)
      await expect(
        client.getToken({ ...wonderland, password: 'guess', scope: 'photos:read' }),
      ).rejects.toMatchObject({ data: { payload: { error: 'invalid_grant' } } })
    } finally {
      server.close()
      server.closeAllConnections()
    }
  },
)
