import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import express from 'express'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { createAuthorizationServer, generateClientSecret } from '../../../lib/index'

const insecure = { [oauth.allowInsecureRequests]: true }
const metadata = {
  client_name: 'Notes',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  scope: 'photos:read',
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

let listening: Server
let issuer: string
const initial = generateClientSecret()

/** An authorization server at an issuer of its own; with a path, it stands there. */
async function start(path: string): Promise<void> {
  const app = express()
  listening = app.listen(0, '127.0.0.1')
  await once(listening, 'listening')
  const address: AddressInfo | string | null = listening.address()
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
  issuer = `http://127.0.0.1:${address.port}${path}`
  const server = createAuthorizationServer({
    issuer,
    scopes: { 'photos:read': 'See your photos' },
    clients: [],
    resourceOwner: () => 'alice',
    dynamicRegistration: {
      initialAccessToken: initial.client_secret_hash,
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
    },
  })
  app.use(path || '/', server.router())
  app.use(server.metadata())
}

afterEach(() => {
  listening.close()
})

describe.each(['', '/tenant'])('at an issuer with the path "%s"', (path) => {
  beforeEach(() => start(path))

  test('oauth4webapi registers, and gets a token with what it was given', async () => {
    const discovery = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
    const server = await oauth.processDiscoveryResponse(new URL(issuer), discovery)
    const asked = { ...insecure, initialAccessToken: initial.client_secret }
    const response = await oauth.dynamicClientRegistrationRequest(server, metadata, asked)
    const client = await oauth.processDynamicClientRegistrationResponse(response)
    const secret = textOf(client['client_secret'])
    const granted = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(secret),
      { scope: 'photos:read' },
      insecure,
    )
    expect(await oauth.processClientCredentialsResponse(server, client, granted)).toMatchObject({
      scope: 'photos:read',
    })
    const uri = textOf(client['registration_client_uri'])
    const own = { headers: { Authorization: `Bearer ${textOf(client['registration_access_token'])}` } }
    expect((await fetch(uri, own)).status).toBe(200)
    expect((await fetch(uri, { ...own, method: 'DELETE' })).status).toBe(204)
    expect((await fetch(uri, own)).status).toBe(401)
  })

  test('oauth4webapi reads why a registration was refused', async () => {
    const server = { issuer, registration_endpoint: `${issuer}/register` }
    const asked = { ...insecure, initialAccessToken: initial.client_secret }
    const wrong = { ...metadata, redirect_uris: ['http://notes.example/'] }
    const refused = await oauth.dynamicClientRegistrationRequest(server, wrong, asked)
    await expect(oauth.processDynamicClientRegistrationResponse(refused)).rejects.toMatchObject({
      error: 'invalid_redirect_uri',
      status: 400,
    })
    const stranger = await oauth.dynamicClientRegistrationRequest(server, metadata, insecure)
    await expect(oauth.processDynamicClientRegistrationResponse(stranger)).rejects.toMatchObject({
      cause: [{ scheme: 'bearer', parameters: { realm: 'oauth' } }],
    })
  })

  test('openid-client registers, and gets a token', async () => {
    const config = await openid.dynamicClientRegistration(new URL(issuer), metadata, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
      initialAccessToken: initial.client_secret,
    })
    expect(await openid.clientCredentialsGrant(config, { scope: 'photos:read' })).toMatchObject({
      scope: 'photos:read',
    })
  })
})
