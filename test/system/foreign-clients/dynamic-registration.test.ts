import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { generateClientSecret } from '../../../lib/index'
import { foreignStage } from '../../support/clients/foreign-stage'
import { discovered, insecure, Party } from '../../support/clients/oauth4webapi'

const metadata = {
  client_name: 'Notes',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  scope: 'photos:read',
}
const initial = generateClientSecret()
const asked = { ...insecure, initialAccessToken: initial.client_secret }

describe.each(['', '/tenant'])('at an issuer with the path "%s"', (path) => {
  const issuer = () => `${stage().issuer}${path}`
  const stage = foreignStage(
    (origin) => ({
      issuer: `${origin}${path}`,
      clients: [],
      dynamicRegistration: {
        initialAccessToken: initial.client_secret_hash,
        grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
      },
    }),
    (app, server) => app.use(path || '/', server.router()).use(server.metadata()),
  )

  test('oauth4webapi registers, gets a token with what it was given, and reads and ends its registration', async () => {
    const server = await discovered(issuer())
    const client = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(server, metadata, asked),
    )
    const member = (name: string): string => {
      const value = client[name]
      if (typeof value !== 'string') throw new Error(`The registration has no ${name}.`)
      return value
    }
    const secret = oauth.ClientSecretBasic(member('client_secret'))
    expect(await new Party(server, client.client_id, secret).enter()).toMatchObject({ scope: 'photos:read' })
    const uri = member('registration_client_uri')
    const own = { headers: { Authorization: `Bearer ${member('registration_access_token')}` } }
    const statuses: number[] = []
    for (const method of ['GET', 'DELETE', 'GET'])
      statuses.push((await fetch(uri, { ...own, method })).status)
    expect(statuses).toEqual([200, 204, 401])
  })

  test('oauth4webapi reads why a registration was refused', async () => {
    const server = await discovered(issuer())
    const register = async (bend: object, options: object) =>
      oauth.processDynamicClientRegistrationResponse(
        await oauth.dynamicClientRegistrationRequest(server, { ...metadata, ...bend }, options),
      )
    await expect(register({ redirect_uris: ['http://notes.example/'] }, asked)).rejects.toMatchObject({
      error: 'invalid_redirect_uri',
      status: 400,
    })
    await expect(register({}, insecure)).rejects.toMatchObject({
      cause: [{ scheme: 'bearer', parameters: { realm: 'oauth' } }],
    })
  })

  test('openid-client registers, and gets a token', async () => {
    const config = await openid.dynamicClientRegistration(new URL(issuer()), metadata, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
      initialAccessToken: initial.client_secret,
    })
    expect(await openid.clientCredentialsGrant(config, { scope: 'photos:read' })).toMatchObject({
      scope: 'photos:read',
    })
  })
})
