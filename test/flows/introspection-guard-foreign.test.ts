import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { IntrospectionGuardOptions } from '../../lib/index'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'

// What introspection endpoints of other makers answer, by their documentation and their sources. oidc-provider itself
// answers in test/system/foreign-servers.

const server = new IntrospectionServer()
beforeAll(() => server.start())
beforeEach(() => server.reset({ active: false }))
afterAll(() => server.stop())

const times = { iat: 1_700_000_000, exp: 4_000_000_000 }
const scope = 'photos:read'
const audience = 'https://photos.example/'
const uuid = 'f1888f4d-5172-4359-be0c-af338505d86c'

const keycloak = {
  ...times,
  jti: 'onrtac:7a6a1d3f',
  aud: ['photos', 'account'],
  sub: uuid,
  typ: 'Bearer',
  azp: 'photo-book',
  sid: '9b0f',
  acr: '1',
  'allowed-origins': ['https://book.example'],
  realm_access: { roles: ['offline_access', 'uma_authorization'] },
  resource_access: { account: { roles: ['manage-account'] } },
  scope: `openid ${scope} profile`,
  email_verified: false,
  preferred_username: 'alice',
  client_id: 'photo-book',
  username: 'alice',
  token_type: 'Bearer',
  active: true,
}
const spring = {
  active: true,
  client_id: 'photo-book',
  ...times,
  nbf: times.iat,
  scope,
  token_type: 'Bearer',
  sub: 'alice',
  aud: ['photo-book'],
  jti: uuid,
}
const okta = {
  active: true,
  scope,
  username: 'alice@example.com',
  ...times,
  sub: 'alice@example.com',
  aud: audience,
  jti: 'AT.7P4KlczBYVcWLkxduEuKeZfeiNYkZIC9uGJ28Cc-YaI',
  token_type: 'Bearer',
  client_id: 'photo-book',
  uid: '00uid4BxXw6I6TV4m0g3',
}
const hydra = {
  active: true,
  scope,
  client_id: 'photo-book',
  sub: 'alice',
  ...times,
  nbf: times.iat,
  aud: [],
  token_type: 'Bearer',
  token_use: 'access_token',
  ext: { tenant: 'acme' },
}
const doorkeeper = { active: true, scope, client_id: 'photo-book', token_type: 'Bearer', ...times }
const identityServer = {
  ...times,
  nbf: times.iat,
  aud: [audience, 'https://auth.example/resources'],
  client_id: 'photo-book',
  sub: 'alice',
  auth_time: times.iat,
  idp: 'local',
  amr: ['pwd'],
  active: true,
  scope,
}

type Row = [what: string, answer: object, options: Partial<IntrospectionGuardOptions>, of: string | undefined]

test.each<Row>([
  ['Keycloak, for a user', keycloak, { audience: 'photos' }, uuid],
  [
    'Spring Authorization Server, whose aud is the client unless it is told otherwise',
    spring,
    { audience: 'photo-book' },
    'alice',
  ],
  ['Okta', okta, { audience }, 'alice@example.com'],
  ['ORY Hydra, whose aud may be empty', hydra, {}, 'alice'],
  ['doorkeeper, which names no owner', doorkeeper, {}, undefined],
  ['IdentityServer, without token_type', identityServer, { audience }, 'alice'],
  [
    'a server that writes null for everything',
    { ...doorkeeper, sub: null, iss: null, aud: null, cnf: null, token_type: null },
    {},
    undefined,
  ],
])('the guard takes the answer of %s', async (_what, answer, options, of) => {
  server.answer = answer
  const { status, body } = await introspectedPhotos(server.issuer, options).ask('token')
  expect([status, body.clientId, body.subject]).toEqual([200, 'photo-book', of])
})

test.each<[string, object, Partial<IntrospectionGuardOptions>, string]>([
  [
    'Keycloak about a refresh token',
    { ...keycloak, typ: 'Refresh' },
    { audience: 'photos' },
    'introspection_of_another_type',
  ],
  [
    'ORY Hydra about a refresh token',
    { ...hydra, token_use: 'refresh_token' },
    {},
    'introspection_of_another_type',
  ],
  [
    'doorkeeper, whose tokens without an end have exp 0',
    { ...doorkeeper, exp: 0 },
    {},
    'introspection_expired',
  ],
])('the guard refuses the answer of %s', async (_what, answer, options, reason) => {
  server.answer = answer
  const { ask, failures } = introspectedPhotos(server.issuer, options)
  const response = await ask('token')
  expect([response.status, failures.map((failure) => failure.reason)]).toEqual([401, [reason]])
  expect(JSON.stringify([response.body, response.headers])).not.toMatch(/alice|photo-book|account/)
})

const text = JSON.stringify(doorkeeper)
const json = { 'Content-Type': 'application/json' }

test.each<[string, (response: ServerResponse) => void]>([
  [
    'of a type with capitals and a charset, compressed',
    (response) => {
      const headers = { 'content-type': 'Application/JSON;charset=UTF-8', 'Content-Encoding': 'gzip' }
      response.writeHead(200, headers).end(gzipSync(text))
    },
  ],
  [
    'in chunks',
    (response) => {
      response.writeHead(200, json).write(text.slice(0, 7))
      setImmediate(() => response.end(text.slice(7)))
    },
  ],
  [
    'that drops the connection afterwards',
    (response) => {
      const { length } = text
      const end = () => response.socket?.destroySoon()
      response.writeHead(200, { ...json, 'Content-Length': length }).end(text, end)
    },
  ],
])('an answer %s, several times', async (_what, answer) => {
  server.answer = answer
  const { ask } = introspectedPhotos(server.issuer, { maximumAge: 0 })
  for (const token of ['a', 'b', 'c']) expect((await ask(token)).status).toBe(200)
})
