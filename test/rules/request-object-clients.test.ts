import { openIdConnect } from '../../lib/paths/openid-connect'
import { privateKeyJwt } from '../../lib/paths/jwt'
import { pushedAuthorizationRequests, requestObjects } from '../../lib/paths/pushed-requests'
import { json } from '../support/assertions/jwt'
import { bent, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest } from '../support/flows/flow'
import { identityKeys, withIdentity } from '../support/flows/identity-stage'
import { objectStage, type ObjectStage, resultOf } from '../support/flows/object-stage'
import { outcomeOf } from '../support/flows/outcome'
import { redirectionOf } from '../support/flows/redirection'
import {
  bookKey,
  objectClaims,
  ownKey,
  requestObject,
  signingBook,
  signingPrint,
} from '../support/flows/request-object'
import { setStage } from '../support/flows/stage'

const redirectUri = 'https://print.example/callback'

test('[JAR-16] is demanded of every client by the server, and of one client by its registration', async () => {
  const plain = authorizationRequest(signingPrint)
  const strict = objectStage({ required: true })
  expect(errorPageOf(await strict.flow.ask(plain, 'alice'))).toBe('400 invalid_request')
  expect(strict.failures.at(-1)?.reason).toBe('request_object_missing')
  expect(errorPageOf(await strict.flow.ask({ ...plain, request: '' }, 'alice'))).toBe('400 invalid_request')
  const none = await strict.bring(`${json({ alg: 'none' })}.${json(strict.claims())}.`)
  expect(resultOf(strict, none)).toBe('malformed')
  for (const request_uri of ['', 'urn:ietf:params:oauth:request_uri:x'])
    expect(outcomeOf(await strict.flow.ask({ ...plain, request_uri }, 'alice'))).not.toBe('question')
  const byUri = await strict.flow.ask({ ...plain, request_uri: 'https://print.example/r' }, 'alice')
  expect(redirectionOf(byUri).parameters['error']).toBe('request_uri_not_supported')
  expect(outcomeOf(await strict.bring(requestObject(strict.claims())))).toBe('question')
  const one = bent(signingPrint, { require_signed_request_object: true }).registration
  const stage = objectStage({}, { clients: [one, signingBook.registration] })
  expect(errorPageOf(await stage.flow.ask(plain, 'alice'))).toBe('400 invalid_request')
  expect(outcomeOf(await stage.bring(requestObject(stage.claims())))).toBe('question')
  expect(outcomeOf(await stage.flow.ask(authorizationRequest(signingBook), 'alice'))).toBe('question')
})

test.each<[string, unknown, string]>([
  ['jwks', { keys: [] }, 'jwks'],
  ['jwks', { keys: [{ ...ownKey.privateKey.export({ format: 'jwk' }) }] }, 'jwks'],
  ['jwks_uri', 'http://print.example/jwks.json', 'jwks_uri'],
  ['request_object_signing_alg', 'none', 'request_object_signing_alg'],
  ['request_object_signing_alg', 'HS256', 'request_object_signing_alg'],
  ['require_signed_request_object', 'true', 'require_signed_request_object'],
  ['require_signed_request_object', true, 'require_signed_request_object'],
])('[JAR-17] no registration has %s of %j without a use', (name, value, path) => {
  const member: object = { [name]: value }
  const registration = { ...photoPrint.registration, ...member }
  expect(() => objectStage({}, { clients: [registration] })).toThrow(new RegExp(`clients\\[0\\]\\.${path}`))
})

test('[JAR-17] a jwks_uri has at most 2048 characters', () => {
  const registrationWith = (length: number) => {
    const member: object = { jwks_uri: 'https://print.example/'.padEnd(length, 'x') }
    return () => objectStage({}, { clients: [{ ...photoPrint.registration, ...member }] })
  }
  expect(registrationWith(2048)).not.toThrow()
  expect(registrationWith(2049)).toThrow(/clients\[0\]\.jwks_uri .* at most 2048 characters/)
})

test('[JAR-17] no registration has both jwks and jwks_uri', () => {
  const registration = bent(signingPrint, { jwks_uri: 'https://print.example/jwks.json' }).registration
  expect(() => objectStage({}, { clients: [registration] })).toThrow(/together with jwks_uri/)
})

test('[JAR-17] a client that registers itself may state its keys, and sign with them', async () => {
  const stage = objectStage({}, { dynamicRegistration: {}, plugins: [privateKeyJwt()] })
  const metadata = {
    redirect_uris: ['https://notes.example/callback'],
    token_endpoint_auth_method: 'none',
    scope: 'photos:read',
    jwks: { keys: [bookKey.jwk] },
    request_object_signing_alg: 'ES256',
    require_signed_request_object: true,
  }
  const register = (bend: object) =>
    stage.flow.submit('/register', JSON.stringify({ ...metadata, ...bend }), undefined, {
      'Content-Type': 'application/json',
    })
  const { status, body } = await register({})
  expect([status, body]).toEqual([201, expect.objectContaining({ jwks: { keys: [bookKey.jwk] } })])
  const client = { registration: { ...signingBook.registration, client_id: String(body.client_id) } }
  const asked = {
    ...objectClaims(stage.now(), client),
    redirect_uri: metadata.redirect_uris[0],
    scope: 'photos:read',
  }
  const request = requestObject(asked, {}, bookKey)
  expect(outcomeOf(await stage.flow.ask({ client_id: body.client_id, request }, 'alice'))).toBe('question')
  const keyed = await register({ token_endpoint_auth_method: 'private_key_jwt' })
  expect([keyed.status, keyed.body.jwks]).toEqual([201, { keys: [bookKey.jwk] }])
  const bad = await register({ request_object_signing_alg: 'none' })
  expect([bad.status, bad.body.error]).toEqual([400, 'invalid_client_metadata'])
})

test('[JAR-18] may come in a pushed request, whose other parameters count for nothing', async () => {
  const stage = objectStage(
    { required: true },
    { plugins: [requestObjects({ required: true }), pushedAuthorizationRequests()] },
  )
  const push = (fields: Readonly<Record<string, string>>) => stage.flow.request(signingPrint, fields, '/par')
  const pushed = await push({
    request: requestObject(stage.claims({ exp: stage.now() + 20 })),
    state: 'other',
  })
  expect(pushed.status).toBe(201)
  const request_uri = String(pushed.body.request_uri)
  // The object has ended when the owner arrives: it was good when the client pushed it.
  stage.clock.advance(55)
  const page = await stage.flow.ask({ client_id: 'photo-print', request_uri }, 'alice')
  const { parameters } = redirectionOf(await stage.flow.decide(page, 'approve', 'alice'))
  expect(parameters['state']).toBe('af0ifjsldkj')
  for (const [fields, error] of [
    [{ ...authorizationRequest(signingPrint), redirect_uri: redirectUri }, 'invalid_request'],
    [{ request: requestObject(stage.claims({ exp: 1 })) }, 'invalid_request_object'],
    [
      { request: requestObject(objectClaims(stage.now(), signingBook), {}, bookKey) },
      'invalid_request_object',
    ],
  ] as const) {
    const refused = await push(fields)
    expect([refused.status, refused.body.error]).toEqual([400, error])
  }
})

test('[JAR-18] does not count for a pushed request by the order of the plug-ins', async () => {
  const stage = objectStage(
    {},
    { plugins: [pushedAuthorizationRequests(), requestObjects({ required: true })] },
  )
  const { body } = await stage.flow.request(signingPrint, { request: requestObject(stage.claims()) }, '/par')
  const asked = { client_id: 'photo-print', request_uri: String(body.request_uri) }
  expect(outcomeOf(await stage.flow.ask(asked, 'alice'))).toBe('question')
})

test('[JAR-21] the metadata says what the server takes, with the plug-in alone', async () => {
  const metadataOf = async ({ flow }: Pick<ObjectStage, 'flow'>): Promise<Record<string, unknown>> =>
    (await flow.open('/.well-known/oauth-authorization-server')).body
  const plain = await metadataOf(setStage())
  const metadata = await metadataOf(objectStage())
  const added = Object.keys(metadata).filter((name) => !Object.hasOwn(plain, name))
  expect(added.toSorted()).toEqual([
    'request_object_signing_alg_values_supported',
    'request_parameter_supported',
    'require_signed_request_object',
  ])
  expect(metadata).toMatchObject({
    request_parameter_supported: true,
    require_signed_request_object: false,
  })
  expect(await metadataOf(objectStage({ required: true }))).toMatchObject({
    require_signed_request_object: true,
  })
  const listed: unknown = metadata['request_object_signing_alg_values_supported']
  expect(listed).toEqual('RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' '))
})

test.each(['before', 'after'])(
  '[JAR-21] the metadata of a server with OpenID Connect says so, with the plug-in %s it',
  async (place) => {
    const keys = identityKeys()
    const identity = [keys, openIdConnect({ keys })]
    const plugins = place === 'before' ? [requestObjects(), ...identity] : [...identity, requestObjects()]
    const { flow } = setStage(withIdentity({ plugins }))
    const { body } = await flow.open('/.well-known/openid-configuration')
    expect(body).toMatchObject({
      request_parameter_supported: true,
      request_uri_parameter_supported: false,
    })
  },
)
