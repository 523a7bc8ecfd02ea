import express from 'express'
import { createIntrospectionGuard } from '../../lib/index'
import { Flow } from '../support/flows/flow'
import { IntrospectionServer } from '../support/flows/introspection-server'

const server = new IntrospectionServer()
beforeAll(() => server.start())
beforeEach(() => {
  server.asked.length = 0
})
afterAll(() => server.stop())

// RFC 7662 2.1 and 2.2: the values are those of the examples.
const response = {
  active: true,
  client_id: 'l238j323ds-23ij4',
  username: 'jdoe',
  scope: 'read write dolphin',
  sub: 'Z5O3upPC88QrAjx00dis',
  aud: 'https://protected.example.net/resource',
  iss: 'https://server.example.com/',
  exp: 1_419_356_238,
  iat: 1_419_350_238,
  extension_field: 'twenty-seven',
}

function example() {
  const guard = createIntrospectionGuard({
    issuer: response.iss,
    endpoint: server.endpoint,
    client: { client_id: 's6BhdRkqt3', client_secret: 'gX1fBat3bV' },
    resource: response.aud,
    clock: () => 1_419_350_300_000,
  })
  const app = express()
  app.get('/resource', guard('read write'), (request, answer) => void answer.json(request.oauth))
  app.get('/admin', guard('admin'), (_request, answer) => void answer.end())
  const flow = new Flow(app)
  return (path: string) => flow.open(path, undefined, { Authorization: 'Bearer mF_9.B5f-4.1JqM' })
}

test('[ITG-1, ITG-2] the request is that of section 2.1, octet by octet', async () => {
  server.answer = response
  await example()('/resource')
  expect(server.asked).toMatchObject([
    {
      method: 'POST',
      url: '/introspect',
      authorization: 'Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW',
      body: 'token=mF_9.B5f-4.1JqM&token_type_hint=access_token',
    },
  ])
})

test('[ITG-6, ITG-11] the response of section 2.2 gives access by its scope, with every member of it', async () => {
  server.answer = response
  const ask = example()
  const { status, body } = await ask('/resource')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    clientId: 'l238j323ds-23ij4',
    subject: 'Z5O3upPC88QrAjx00dis',
    scope: ['read', 'write', 'dolphin'],
    expiresAt: 1_419_356_238,
    claims: response,
  })
  expect((await ask('/admin')).status).toBe(403)
})

test('[ITG-7, ITG-18] those of a token that is not active, and of section 2.3, give none', async () => {
  const ask = example()
  server.answer = { active: false }
  expect((await ask('/resource')).status).toBe(401)
  server.answer = (answer) => {
    const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
    answer.writeHead(401, headers).end('{"error":"invalid_client"}')
  }
  expect((await example()('/resource')).status).toBe(503)
})
