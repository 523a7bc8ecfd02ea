import express from 'express'
import { createHmac, randomUUID } from 'node:crypto'
import request from 'supertest'
import { apiKey, optionsWith } from '../../docs/examples/api-key'
import { codeToken } from '../../docs/examples/code-token'
import { createAuthorizationServer, implicit, type Json, stepUp } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { dpop } from '../../lib/paths/dpop'
import { formPost, pushedAuthorizationRequests, requestObjects } from '../../lib/paths/pushed-requests'
import { privateKeyJwt } from '../../lib/paths/jwt'
import { application, canonicalOptions, type Mount } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { deviceSecret } from '../support/flows/device-stage'
import { authorizationRequest, basic, type Fields, Flow, formOf, type Headers } from '../support/flows/flow'
import { outcomeOf } from '../support/flows/outcome'
import { Prover, proverNames } from '../support/flows/prover'
import { setStage } from '../support/flows/stage'
import * as grants from './parameters/grants'

const wellKnown = ['oauth-authorization-server', 'openid-configuration']
const [document] = wellKnown.map((name) => `/.well-known/${name}`)

async function metadataOf(flow: Flow, path = String(document)): Promise<Readonly<Record<string, unknown>>> {
  const response = await flow.open(path)
  expect(response.status).toBe(200)
  return JSON.parse(response.text)
}

const rootAndRouter: Mount = (app, oauth) => {
  app.use(oauth.metadata())
  app.use('/oauth', oauth.router())
}

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

test('[META-1] each endpoint that is named answers at its URL, wherever the host has put it [answer-6]', async () => {
  const issuer = 'http://localhost/oauth'
  const paths = {
    authorization: '/v1/allow',
    token: '/v1/token',
    revocation: '/v1/forget',
    introspection: '/v1/about',
  }
  const { flow } = application({ issuer, paths }, { mount: rootAndRouter })
  const metadata = await metadataOf(flow, `${document}/oauth`)
  const pathOf = (name: string): string => new URL(String(metadata[`${name}_endpoint`])).pathname
  expect(outcomeOf(await flow.open(pathOf('authorization'), 'alice'))).toBe('page 400 invalid_request')
  for (const name of ['token', 'revocation', 'introspection'])
    expect(outcomeOf(await flow.submit(pathOf(name), {}))).toBe('401 invalid_client')
})

function withoutOwners() {
  const { issuer, scopes } = canonicalOptions
  const oauth = createAuthorizationServer({ issuer, scopes, clients: [nightlyReport.registration] })
  return { flow: new Flow(express().use(oauth.router())) }
}

test('[META-1] a server without a resource owner names no authorization endpoint', async () => {
  const { flow } = withoutOwners()
  const metadata = await metadataOf(flow)
  expect(metadata).not.toHaveProperty('authorization_endpoint')
  expect(metadata['response_types_supported']).toEqual([])
  expect((await flow.open('/authorize')).status).toBe(404)
})

const grantTypesListed = async (flow: Flow) => listOf((await metadataOf(flow))['grant_types_supported'])

test.each(Object.entries(grants))(
  '[META-2] a grant type that a host switches on is listed and works, and is neither otherwise: %s',
  async (_name, { options, fields, send, good }) => {
    const set = setStage(options)
    const form = await fields(set)
    expect((await send(set, formOf(form))).map(outcomeOf)).toEqual([good])
    const { grant_type } = form
    expect(await grantTypesListed(set.flow)).toContain(grant_type)
    const { flow } = setStage()
    expect(await grantTypesListed(flow)).not.toContain(grant_type)
    expect(outcomeOf(await flow.request(nightlyReport, { grant_type }))).toBe('400 unsupported_grant_type')
  },
)

const members = ['issuer', 'scopes_supported', 'response_types_supported', 'grant_types_supported']
const ofEndpoints = (...names: readonly string[]) =>
  names.flatMap((name) => [`${name}_endpoint`, `${name}_endpoint_auth_methods_supported`])
const always = [...members, ...ofEndpoints('token', 'revocation', 'introspection')]
const withOwners = [
  ...always,
  'authorization_endpoint',
  'response_modes_supported',
  'prompt_values_supported',
  'code_challenge_methods_supported',
  'authorization_response_iss_parameter_supported',
]
const algorithmsAt = (name: string) => `${name}_endpoint_auth_signing_alg_values_supported`
const withEverything = [
  ...withOwners,
  ...ofEndpoints('pushed_authorization_request', 'device_authorization'),
  ...['token', 'revocation', 'introspection', 'pushed_authorization_request', 'device_authorization'].map(
    algorithmsAt,
  ),
  'registration_endpoint',
  'acr_values_supported',
  'request_parameter_supported',
  'request_object_signing_alg_values_supported',
  'require_signed_request_object',
  'dpop_signing_alg_values_supported',
]

const now = Math.floor(Date.now() / 1000)
const key = 'k'.repeat(43)
const signers = new Map(proverNames.map((name) => [name, new Prover(() => now * 1000, undefined, name)]))
const keys = [...signers].map(([kid, { jwk }]): Json => JSON.parse(JSON.stringify({ ...jwk, kid })))
const signing = bent(photoPrint, {
  credentials: { private_key_jwt: { keys } },
  grant_types: ['authorization_code', 'client_credentials', 'refresh_token'],
})
const implicitBook = bent(photoBook, {
  grant_types: ['authorization_code', 'refresh_token', 'implicit'],
  response_types: ['code', 'token', 'code token'],
})
const clock = () => now * 1000

/** A server with every plug-in that says something in the metadata, and one with none. */
const servers = {
  everything: () =>
    setStage({
      clock,
      clients: [signing.registration, implicitBook.registration],
      dynamicRegistration: {},
      plugins: [
        privateKeyJwt(),
        implicit(),
        { name: 'host-response-types', responseTypes: [codeToken] },
        deviceAuthorization({ secret: deviceSecret }),
        dpop({ baseUrl: 'http://localhost' }),
        formPost(),
        pushedAuthorizationRequests(),
        requestObjects(),
        stepUp({ acrValues: ['gold', 'silver'] }),
      ],
    }),
  nothing: () =>
    setStage({ clock, clients: [bent(signing, { credentials: {} }).registration, photoBook.registration] }),
}

test.each<[string, () => { readonly flow: Flow }, readonly string[]]>([
  ['everything', servers.everything, withEverything],
  ['nothing', servers.nothing, withOwners],
  ['nothing, without resource owners', withoutOwners, always],
])('[META-2] a server with %s lists these members, and no others', async (_name, open, expected) => {
  const metadata = await metadataOf(open().flow)
  expect(Object.keys(metadata).toSorted()).toEqual([...expected].toSorted())
  for (const name of Object.keys(metadata).filter((member) => member.endsWith('_endpoint')))
    expect([
      name,
      (await open().flow.submit(new URL(String(metadata[name])).pathname, {})).status,
    ]).not.toEqual([name, 404])
})

test('[META-2] the paths of plug-ins that are off are those of the host', async () => {
  const { flow } = servers.nothing()
  for (const path of ['/register', '/device', '/device_authorization', '/par', '/userinfo', '/logout'])
    expect([path, (await flow.open(path)).status, (await flow.submit(path, {})).status]).toEqual([
      path,
      404,
      404,
    ])
})

type Served = ReturnType<typeof setStage>
const asked = authorizationRequest(photoBook)
const isAnswered = async ({ flow }: Served, bend: Fields) =>
  (await flow.ask({ ...asked, ...bend }, 'alice')).status === 200

/** A JWT of the client, by any algorithm of the registries. */
function signedBy(alg: string, header: object, claims: object): string {
  const text = [{ ...header, alg, kid: alg }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const known = proverNames.find((name) => name === alg)
  if (known !== undefined) return signers.get(known)?.sign({ ...header, alg, kid: alg }, claims) ?? ''
  const mac = createHmac(alg === 'HS512' ? 'sha512' : 'sha256', photoPrint.secret).update(text)
  return `${text}.${alg === 'none' ? '' : mac.digest('base64url')}`
}
const client_id = 'photo-print'
const assertionBy = (alg: string): Fields => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: signedBy(
    alg,
    {},
    {
      iss: client_id,
      sub: client_id,
      aud: 'http://localhost',
      exp: now + 60,
      jti: randomUUID(),
    },
  ),
})

const presented: Readonly<Record<string, { readonly fields?: Fields; readonly headers?: Headers }>> = {
  none: { fields: { client_id: 'photo-book' } },
  client_secret_basic: { headers: { Authorization: basic(client_id, photoPrint.secret) } },
  client_secret_post: { fields: { client_id, client_secret: photoPrint.secret } },
  client_secret_jwt: { fields: assertionBy('HS256') },
  private_key_jwt: { fields: assertionBy('ES256') },
  tls_client_auth: { fields: { client_id } },
}
/** A client that authenticates hears that its refresh token is none. */
const authenticates = async ({ flow }: Served, { fields = {}, headers = {} }: (typeof presented)[string]) =>
  (
    await flow.submit(
      '/token',
      { grant_type: 'refresh_token', refresh_token: 'x', ...fields },
      undefined,
      headers,
    )
  ).body.error === 'invalid_grant'

// What clients may know from the registries, listed here or not, and whether a request with it works.
const uses: readonly (readonly [
  string,
  readonly string[],
  (set: Served, value: string) => Promise<boolean>,
])[] = [
  [
    'scopes_supported',
    ['photos:read', 'photos:print', 'openid', 'profile', 'offline_access'],
    (set, scope) => isAnswered(set, { scope }),
  ],
  [
    'response_types_supported',
    ['code', 'token', 'code token', 'id_token', 'code id_token', 'none'],
    (set, response_type) => isAnswered(set, { response_type }),
  ],
  [
    'response_modes_supported',
    ['query', 'fragment', 'form_post', 'web_message', 'jwt', 'query.jwt'],
    (set, response_mode) => isAnswered(set, { response_mode }),
  ],
  [
    'code_challenge_methods_supported',
    ['S256', 'plain', 'S512'],
    (set, code_challenge_method) => isAnswered(set, { code_challenge_method }),
  ],
  [
    'acr_values_supported',
    ['gold', 'silver', 'bronze'],
    async ({ flow }, acr_values) =>
      String((await flow.ask({ ...asked, acr_values }, 'alice')).get('Location')).startsWith('/login'),
  ],
  [
    'token_endpoint_auth_methods_supported',
    Object.keys(presented),
    (set, method) => authenticates(set, presented[method] ?? {}),
  ],
  [
    'token_endpoint_auth_signing_alg_values_supported',
    [...proverNames, 'HS256', 'HS512', 'ES256K', 'none'],
    (set, alg) => authenticates(set, { fields: assertionBy(alg) }),
  ],
  [
    'request_object_signing_alg_values_supported',
    [...proverNames, 'HS256', 'HS512', 'ES256K', 'none'],
    async ({ flow }, alg) => {
      const times = { iss: client_id, aud: 'http://localhost', iat: now, exp: now + 60 }
      const claims = { ...authorizationRequest(signing), ...times }
      const object = signedBy(alg, { typ: 'oauth-authz-req+jwt' }, claims)
      return (await flow.ask({ client_id, request: object }, 'alice')).status === 200
    },
  ],
  [
    'dpop_signing_alg_values_supported',
    proverNames,
    async ({ flow }, alg) => {
      const prover = signers.get(proverNames.find((name) => name === alg) ?? 'ES256')
      const fields = { grant_type: 'client_credentials', scope: 'photos:read' }
      return (await prover?.tokens(flow, fields, signing))?.body.token_type === 'DPoP'
    },
  ],
]

describe.each(Object.entries(servers))('A server with %s', (_name, open) => {
  test.each(uses)(
    '[META-2, MCP-37] %s lists the values that work, and no others',
    async (member, known, works) => {
      const set = open()
      const listed = listOf((await metadataOf(set.flow))[member])
      const found: string[] = []
      for (const value of known) if (await works(set, value)) found.push(value)
      expect(found.toSorted()).toEqual(listed.filter((value) => known.includes(value)).toSorted())
      expect(known).toEqual(expect.arrayContaining([...listed].filter((value) => !unasked.has(value))))
    },
  )
})

// The scopes of other clients.
const unasked: ReadonlySet<string> = new Set(['reports:write'])

test('[META-2] a method of client authentication that a host adds is listed and works, and is neither otherwise', async () => {
  const form = { grant_type: 'client_credentials', scope: 'photos:read' }
  for (const [set, isOn] of [
    [setStage(optionsWith(key)), true],
    [setStage(), false],
  ] as const) {
    const methods = listOf((await metadataOf(set.flow))['token_endpoint_auth_methods_supported'])
    const answer = await set.flow.submit('/token', form, undefined, { Authorization: `ApiKey robot.${key}` })
    expect([methods.includes(apiKey.name), outcomeOf(answer)]).toEqual([
      isOn,
      isOn ? 'tokens' : '401 invalid_client',
    ])
  }
})

test.each(['http://localhost', 'http://localhost/', 'http://localhost/oauth/', 'http://LOCALHOST/oauth'])(
  '[META-3, META-4] the issuer %s appears exactly, and no member is null [answer-5]',
  async (issuer) => {
    const { flow } = application({ issuer }, { mount: (app, oauth) => app.use(oauth.metadata()) })
    const metadata = await metadataOf(flow, document + new URL(issuer).pathname.replace(/\/$/, ''))
    expect(metadata['issuer']).toBe(issuer)
    expect(Object.values(metadata)).not.toContain(null)
    expect(Object.values(metadata)).not.toContain('')
  },
)

test('[META-5, MCP-4] metadata is at both well-known names, before the path of the issuer and after it, and nowhere else', async () => {
  const issuer = 'http://localhost/oauth'
  const { flow } = application({ issuer }, { mount: rootAndRouter })
  const whole = await metadataOf(flow, `${document}/oauth`)
  expect(whole['issuer']).toBe(issuer)
  for (const name of wellKnown) {
    for (const path of [`/.well-known/${name}/oauth`, `/oauth/.well-known/${name}`])
      expect(await metadataOf(flow, path)).toEqual(whole)
    for (const path of [name, `${name}/`, `${name}/oauth/`, `${name}/other`, 'jwks.json', ''])
      expect((await flow.open(`/.well-known/${path}`)).status).toBe(404)
  }
})

test('[META-6] browsers of every origin and caches may have it, by GET and HEAD only', async () => {
  const { app } = application()
  for (const method of ['get', 'head'] as const) {
    const { status, headers } = await request(app)[method](String(document))
    expect(status).toBe(200)
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['cache-control']).toMatch(/^public, max-age=\d+$/)
  }
  for (const method of ['post', 'put', 'delete', 'options'] as const) {
    const { status, headers } = await request(app)[method](String(document))
    expect([status, headers['allow']]).toEqual([405, 'GET, HEAD'])
  }
})
