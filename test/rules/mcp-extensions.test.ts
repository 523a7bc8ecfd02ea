import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { jwtBearer, privateKeyJwt } from '../../lib/index'
import { claimsAt, hub, issuers, json, jwt, partner, type Signer, signer } from '../support/assertions/jwt'
import { bent, nightlyReport, photoPrint } from '../support/flows/clients'
import { outcomeOf } from '../support/flows/outcome'
import { setStage } from '../support/flows/stage'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { jwkOf } from '../support/mcp/jwk'

const issuer = 'http://localhost'
const photos = 'https://api.example/photos'
const grantType = jwtBearer({ profile: 'id-jag', issuers, resourceOwner: () => 'alice' })
const grant_type = grantType.name
const agent = bent(photoPrint, {
  grant_types: ['authorization_code', grant_type],
  scope: 'photos:read photos:print reports:write',
})
const other = bent(nightlyReport, { grant_types: [grant_type] })

function company() {
  const set = setStage({
    clients: [agent.registration, other.registration],
    grantTypes: [grantType],
    resources: {
      [photos]: { scopes: ['photos:read', 'photos:print'] },
      'https://api.example/reports': { scopes: ['reports:write'] },
    },
    defaultResource: photos,
  })
  const claims = (bend: object = {}) => ({
    ...claimsAt(Math.floor(set.clock.read() / 1000)),
    client_id: agent.registration.client_id,
    resource: photos,
    scope: 'photos:read photos:print',
    ...bend,
  })
  const assertion = (bend: object = {}, by: Signer = hub) =>
    jwt(by, claims(bend), { typ: 'oauth-id-jag+jwt' })
  const ask = (presented: string, fields: Record<string, string> = {}, client = agent) =>
    set.flow.request(client, { grant_type, assertion: presented, ...fields })
  return { ...set, claims, assertion, ask }
}

test('[MCP-37] a client proves itself by a key, and the metadata names method and algorithms', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [jwkOf(publicKey)]
  const robot = bent(nightlyReport, {
    credentials: { private_key_jwt: { keys } },
    token_endpoint_auth_method: 'private_key_jwt',
  })
  const { client_secret_hashes: _, ...registration } = robot.registration
  const { flow, clock } = setStage({
    clients: [registration],
    clientAuthenticationMethods: [privateKeyJwt()],
  })
  const { body } = await flow.open('/.well-known/oauth-authorization-server')
  expect(body.token_endpoint_auth_methods_supported).toContain('private_key_jwt')
  expect(body.token_endpoint_auth_signing_alg_values_supported).toContain('ES256')
  const iss = registration.client_id
  const by: Signer = { ...signer(iss, 'one'), privateKey, publicKey }
  const now = Math.floor(clock.read() / 1000)
  const ask = (aud: string) =>
    flow.submit('/token', {
      grant_type: 'client_credentials',
      scope: 'photos:read',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: jwt(
        by,
        { iss, sub: iss, aud, jti: randomUUID(), iat: now, exp: now + 300 },
        { kid: undefined },
      ),
    })
  expect(outcomeOf(await ask(issuer))).toBe('tokens')
  expect(outcomeOf(await ask('https://other.example'))).toBe('401 invalid_client')
})

test('[MCP-38] the metadata lists the profile', async () => {
  const { flow } = company()
  expect((await flow.open('/.well-known/oauth-authorization-server')).body).toMatchObject({
    authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
  })
})

test('[MCP-39] the signature is by a key of the issuer, of an algorithm that is allowed', async () => {
  const { ask, assertion, claims } = company()
  const stranger = signer(hub.issuer, hub.kid, hub.alg)
  const unsigned = `${json({ alg: 'none', typ: 'oauth-id-jag+jwt' })}.${json(claims())}.`
  for (const presented of [assertion({}, stranger), assertion({}, partner), unsigned])
    expect(refusalOf(await ask(presented))).toBe('400 invalid_grant')
  expect(outcomeOf(await ask(assertion()))).toBe('tokens')
})

test.each<[string, (now: number) => object]>([
  ['an untrusted issuer', () => ({ iss: 'https://evil.example' })],
  ['no subject', () => ({ sub: undefined })],
  ['another audience', () => ({ aud: 'https://other.example' })],
  ['several audiences', () => ({ aud: [issuer, 'https://other.example'] })],
  ['no time of issue', () => ({ iat: undefined })],
  ['no end', () => ({ exp: undefined })],
  ['an end that is past', (now) => ({ exp: now - 60, iat: now - 120 })],
])('[MCP-40] an assertion with %s is refused', async (_name, bend) => {
  const { ask, assertion, clock } = company()
  const presented = assertion(bend(Math.floor(clock.read() / 1000)))
  expect(refusalOf(await ask(presented))).toBe('400 invalid_grant')
})

test('[MCP-41] an assertion counts once', async () => {
  const { ask, assertion } = company()
  const presented = assertion()
  expect(outcomeOf(await ask(presented))).toBe('tokens')
  expect(refusalOf(await ask(presented))).toBe('400 invalid_grant')
})

test('[MCP-42] the resource of an assertion is one of this server', async () => {
  const { ask, assertion } = company()
  for (const resource of ['https://other.example/', [photos, 'https://other.example/']])
    expect(refusalOf(await ask(assertion({ resource })))).toBe('400 invalid_grant')
})

test('[MCP-43] the access token is for the resource of the assertion alone', async () => {
  const { ask, assertion, flow } = company()
  const { accessToken } = tokensOf(await ask(assertion()))
  expect((await flow.photos(accessToken)).body).toMatchObject({ subject: 'alice', audience: [photos] })
})

test('[MCP-44] the scope is what is asked for and asserted; without a request, what is asserted', async () => {
  const { ask, assertion } = company()
  const scopeOf = async (asserted: string, fields: Record<string, string>) =>
    tokensOf(await ask(assertion({ scope: asserted }), fields)).scope
  expect(await scopeOf('photos:read photos:print', { scope: 'photos:print' })).toBe('photos:print')
  expect(await scopeOf('photos:read', { scope: 'photos:read photos:print' })).toBe('photos:read')
  expect(await scopeOf('photos:read', {})).toBe('photos:read')
})

test.each<[string, object, Record<string, string>]>([
  ['none of what is asked', { scope: 'photos:read' }, { scope: 'photos:print' }],
  ['none that the client may have', { scope: 'chat' }, {}],
  ['none of the resource', { scope: 'reports:write' }, {}],
])('[MCP-47] an assertion that names %s is no grant', async (_name, bend, fields) => {
  const { ask, assertion } = company()
  expect(refusalOf(await ask(assertion(bend), fields))).toBe('400 invalid_grant')
})

test('[MCP-48] an assertion with details that the server does not understand is no grant', async () => {
  const { ask, assertion } = company()
  const authorization_details = [{ type: 'photo_read', locations: [photos] }]
  expect(refusalOf(await ask(assertion({ authorization_details })))).toBe('400 invalid_grant')
})

test('[MCP-45] the client authenticates, and is the one of the assertion', async () => {
  const { ask, assertion, flow } = company()
  expect(refusalOf(await ask(assertion(), {}, other))).toBe('400 invalid_grant')
  const { client_id } = agent.registration
  const bare = { grant_type, assertion: assertion(), client_id }
  expect(refusalOf(await flow.submit('/token', bare))).toBe('401 invalid_client')
})

test('[MCP-46] no event and no error contains the assertion', async () => {
  const { ask, assertion, failures } = company()
  const presented = assertion({ aud: 'https://other.example' })
  const response = await ask(presented)
  const said = JSON.stringify(failures) + response.text + JSON.stringify(response.headers)
  for (const part of presented.split('.')) expect(said).not.toContain(part)
})
