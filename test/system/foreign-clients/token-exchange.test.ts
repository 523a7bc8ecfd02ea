import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import * as oauth from 'oauth4webapi'
import { photoBook } from '../../support/flows/clients'
import { setStage } from '../../support/flows/stage'
import {
  actingAs,
  accessTokenType,
  exchanging,
  service,
  tokenExchangeName,
} from '../../support/flows/token-exchange'

const set = setStage(exchanging())
const insecure = { [oauth.allowInsecureRequests]: true }
const client: oauth.Client = { client_id: service.registration.client_id }
let server: Server
let metadata: oauth.AuthorizationServer

beforeAll(async () => {
  server = createServer(set.app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server listens on no port.')
  metadata = { issuer: 'http://localhost', token_endpoint: `http://127.0.0.1:${address.port}/token` }
})
afterAll(() => server.close())

const exchange = (parameters: URLSearchParams) =>
  oauth.genericTokenEndpointRequest(
    metadata,
    client,
    oauth.ClientSecretBasic(service.secret ?? ''),
    tokenExchangeName,
    parameters,
    insecure,
  )

test('oauth4webapi completes a token exchange for several targets, and reads a refusal', async () => {
  const { accessToken } = await set.flow.tokens(photoBook)
  const parameters = new URLSearchParams({
    subject_token: accessToken,
    subject_token_type: accessTokenType,
    ...(await actingAs(set.flow)),
  })
  for (const resource of ['https://a.example/', 'https://b.example/']) parameters.append('resource', resource)
  const tokens = await oauth.processGenericTokenEndpointResponse(metadata, client, await exchange(parameters))
  expect(tokens).toMatchObject({
    token_type: 'bearer',
    issued_token_type: accessTokenType,
    scope: 'photos:read',
  })
  expect((await set.flow.photos(tokens.access_token)).status).toBe(200)
  parameters.append('resource', 'relative')
  await expect(
    oauth.processGenericTokenEndpointResponse(metadata, client, await exchange(parameters)),
  ).rejects.toMatchObject({ error: 'invalid_target', status: 400 })
})
