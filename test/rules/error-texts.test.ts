import * as fc from 'fast-check'
import {
  deviceAuthorization,
  dpop,
  pushedAuthorizationRequests,
  reasons,
  requestObjects,
} from '../../lib/index'
import { errorOf, faultOf } from './error-texts/answer'
import { asked, fullStage, grant, night, refusals } from './error-texts/refusals'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { deviceCode, deviceSecret } from '../support/flows/device-stage'
import { authorizationRequest, basic, formOf } from '../support/flows/flow'
import { identityStage, relyingParty } from '../support/flows/identity-stage'
import { loginOf } from '../support/flows/login-stage'
import { Prover } from '../support/flows/prover'
import { setStage } from '../support/flows/stage'

const odd = [
  'x',
  'said-back',
  'said  back',
  '"said" back',
  '',
  '"',
  '\\',
  'é',
  '世界',
  '\r\nSet-Cookie: a=b',
  '\u0000',
  '__proto__',
  '%',
  'a'.repeat(9000),
]

// A title shows no more than the beginning of a long one.
test.each(odd.map((value) => [value.slice(0, 30), value] as const))(
  '[RSP-6] no refusal repeats what was sent, may be cached or has a malformed challenge: %j',
  async (_, value) => {
    const responses = await refusals(fullStage(), value)
    expect(responses.filter((response) => errorOf(response) !== undefined).length).toBeGreaterThan(30)
    expect(
      responses.map((response) => faultOf(response, value)).filter((fault) => fault !== undefined),
    ).toEqual([])
  },
)

/** Trouble on this side, at each endpoint and at a guard. */
async function troubles() {
  const { flow, store } = fullStage({ resourceOwner: () => Promise.reject(new Error('"é"')) })
  store.begin('fails', 'find', 'save')
  const garbage = `at_${'A'.repeat(64)}`
  return [
    await flow.ask(asked),
    await flow.request(nightlyReport, grant),
    await flow.revoke(nightlyReport, garbage),
    await flow.photos(garbage),
  ]
}

test('[RSP-6] errors of the server keep to the form, and no cache keeps them', async () => {
  const responses = await troubles()
  expect(responses.map((response) => errorOf(response)?.['error'])).toEqual([
    'server_error',
    'temporarily_unavailable',
    'temporarily_unavailable',
    'temporarily_unavailable',
  ])
  expect(responses.map((response) => faultOf(response)).filter((fault) => fault !== undefined)).toEqual([])
})

/** The polls of a device whose owner has not decided, and whose request has then expired. */
async function polls() {
  const device = bent(photoBook, { grant_types: [deviceCode], redirect_uris: [], response_types: [] })
  const { flow, clock } = setStage({
    plugIns: [deviceAuthorization({ secret: deviceSecret })],
    clients: [device.registration],
  })
  const { body } = await flow.request(device, { scope: 'photos:read' }, '/device_authorization')
  const poll = () => flow.request(device, { grant_type: deviceCode, device_code: body.device_code })
  const waiting = await poll()
  clock.advance(2)
  const early = await poll()
  clock.advance(600)
  return [waiting, early, await poll()]
}

/** Requests that must not show a page, and cannot go on without one. */
async function silences() {
  const app = bent(photoBook, { redirect_uris: ['com.example.book:/callback'] })
  const { flow } = setStage({ clients: [photoBook.registration, { ...app.registration, client_id: 'app' }] })
  const silent = { ...authorizationRequest(photoBook), prompt: 'none' }
  return [
    await flow.ask(silent),
    await flow.ask(silent, 'alice'),
    await flow.ask({ ...silent, client_id: 'app', redirect_uri: 'com.example.book:/callback' }, 'alice'),
  ]
}

/** Requests of OpenID Connect that this server does not serve. */
async function identityRefusals() {
  const { flow } = identityStage(setStage)({}, { claimsParameter: true })
  const request = { ...authorizationRequest(relyingParty), scope: 'openid' }
  const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'passkey' } } })
  const login = await flow.ask({ ...request, claims }, 'alice')
  return [
    await flow.ask({ ...request, request: 'x' }, 'alice'),
    await flow.ask({ ...request, request_uri: 'https://client.example/request' }, 'alice'),
    await flow.ask({ ...request, registration: '{}' }, 'alice'),
    await flow.open(loginOf(login).back, 'alice'),
  ]
}

/** A request object of a client that has no keys. */
async function objectRefusals() {
  const { flow } = setStage({ plugIns: [requestObjects()] })
  const query = formOf({ client_id: 'photo-print', request: 'x' })
  return [await flow.open(`/authorize?${query}`, 'alice', { Accept: 'application/json' })]
}

/** A reference to no pushed request. */
async function lostReferences() {
  const { flow } = setStage({ plugIns: [pushedAuthorizationRequests()] })
  const query = formOf({ client_id: 'photo-print', request_uri: 'urn:ietf:params:oauth:request_uri:x' })
  return [await flow.open(`/authorize?${query}`, 'alice', { Accept: 'application/json' })]
}

/** Token requests without a proof, and with one that lacks a nonce. */
async function unprovenRequests() {
  const baseUrl = 'http://localhost'
  const { flow, clock } = setStage({ plugIns: [dpop({ baseUrl, required: true, nonces: {} })] })
  const { registration, secret } = nightlyReport
  const Authorization = basic(registration.client_id, secret)
  const DPoP = new Prover(clock.read).proof('POST', '/token')
  return [
    await flow.request(nightlyReport, grant),
    await flow.submit('/token', grant, undefined, { Authorization, DPoP }),
  ]
}

/** A login that a guard does not take. */
async function weakLogins() {
  const { app, oauth, flow } = setStage()
  app.get('/fresh', oauth.bearerGuard('photos:read', { maxAge: 60 }))
  const { accessToken } = await flow.tokens(photoBook)
  return [await flow.open('/fresh', undefined, { Authorization: `Bearer ${accessToken}` })]
}

test('[RSP-6] these tests cover every error code of the server and of a guard', async () => {
  const ofMost = await refusals(fullStage(), 'x')
  const responses = [
    ...ofMost,
    ...(await troubles()),
    ...(await polls()),
    ...(await silences()),
    ...(await identityRefusals()),
    ...(await objectRefusals()),
    ...(await lostReferences()),
    ...(await unprovenRequests()),
    ...(await weakLogins()),
  ]
  expect(responses.map((response) => faultOf(response)).filter((fault) => fault !== undefined)).toEqual([])
  const codes = new Set(responses.flatMap((response) => errorOf(response)?.['error'] ?? []))
  expect([...codes].toSorted()).toEqual(Object.keys(reasons).toSorted())
})

const names = [
  ...Object.keys(asked),
  'grant_type',
  'code',
  'code_verifier',
  'refresh_token',
  'client_secret',
  'token',
  'token_type_hint',
]
const values = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'code',
    'token',
    'photo-book',
    'wall',
    'nightly-report',
    'client_credentials',
    'S256',
    ...odd,
  ),
)

test('[RSP-6] errors keep to their character sets for any form', async () => {
  const { flow } = fullStage()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...names), values)), async (pairs) => {
      const form = new URLSearchParams(pairs).toString()
      const responses = [
        await flow.submit('/authorize', form, 'alice'),
        await flow.submit('/token', form),
        await flow.submit('/token', form, undefined, night),
        await flow.submit('/revoke', form, undefined, night),
        await flow.submit('/introspect', form, undefined, night),
      ]
      expect(responses.map((response) => faultOf(response)).filter((fault) => fault !== undefined)).toEqual(
        [],
      )
    }),
  )
})
