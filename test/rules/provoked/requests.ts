import bcrypt from 'bcrypt'
import { connect } from 'node:net'
import type { ClientRegistration } from '../../../lib/index'
import { privateKeyJwt } from '../../../lib/paths/jwt'
import { jwt, signer } from '../../support/assertions/jwt'
import { bent, nightlyReport, photoBook, photoFrame, photoPrint } from '../../support/flows/clients'
import { authorizationRequest, basic, type Fields, type Headers } from '../../support/flows/flow'
import { Gate } from '../../support/flows/gate'
import { rawRequest } from '../../support/flows/raw-request'
import { startServer } from '../../support/start-server'
import { area, grant, once, open, type Opened, registered, twice } from './provoke'

const form = ['Content-Type', 'application/x-www-form-urlencoded']
const json = ['Content-Type', 'application/json']
const asked = authorizationRequest(photoBook)
const elsewhere = { Origin: 'https://app.example' }

const post =
  (path: string, body: string | Buffer, ...headers: string[]) =>
  ({ app }: Opened) =>
    rawRequest(app, { method: 'POST', path, headers, body })

/** A client that begins a body and does not end it. */
const halfBody = (leaves: boolean) => async (set: Opened) => {
  const { port, stop } = await startServer(set.app)
  const socket = connect(port, '127.0.0.1')
  socket.write(`POST /token HTTP/1.1\r\nHost: x\r\n${form.join(': ')}\r\nContent-Length: 99\r\n\r\na`)
  if (leaves) setTimeout(() => socket.destroy(), 100)
  await new Promise((closed) => socket.once('close', closed).resume())
  await stop()
}

const formStage = () =>
  open({ bodyDeadline: 1, dynamicRegistration: {}, cors: { origins: ['https://a.example'] } })

export const requests = area('the form of a request', formStage, {
  parameter_missing: ({ flow }) => flow.request(nightlyReport, {}),
  parameter_malformed: ({ flow }) => flow.request(nightlyReport, { ...grant, scope: ['a', 'b'] }),
  'parameter_malformed/encoding': ({ flow }) => flow.ask('client_id=%FF', 'alice'),
  parameter_too_long: ({ flow }) => flow.ask({ ...asked, client_id: 'x'.repeat(257) }, 'alice'),
  too_many_parameters: ({ flow }) => flow.submit('/token', 'a=1&'.repeat(101)),
  body_type: post('/token', '{}', ...json),
  'body_type/json': post('/register', 'a=1', ...form),
  body_malformed: post('/register', '{', ...json),
  body_too_deep: post('/register', '['.repeat(40) + ']'.repeat(40), ...json),
  body_encoding: post('/token', Buffer.from([0xff]), ...form),
  'body_encoding/compressed': post('/token', 'a', ...form, 'Content-Encoding', 'gzip'),
  body_too_large: post('/token', 'x'.repeat(65_537), ...form),
  body_aborted: halfBody(true),
  body_too_slow: halfBody(false),
  method_not_allowed: ({ flow }) => flow.open('/token'),
  tls_required: () => open({ issuer: 'https://auth.example.com' }).flow.ask(asked),
  maintenance: () => open({ maintenance: () => true }).flow.request(nightlyReport, grant),
  closing: async () => {
    const { oauth, flow } = open()
    await oauth.close()
    return flow.request(nightlyReport, grant)
  },
  login_page_missing: async ({ flow }) => void (await flow.open('/login?return_to=%2Fauthorize', 'alice')),
  origin_not_allowed: async ({ flow }) => void (await flow.submit('/token', grant, undefined, elsewhere)),
  'origin_not_allowed/guard': async ({ flow }) => void (await flow.open('/photos', undefined, elsewhere)),
})

const [own, foreign] = [signer('bank', '1'), signer('bank', '1')]
const bank = {
  client_id: 'bank',
  client_type: 'confidential',
  credentials: { private_key_jwt: { keys: [own.jwk] } },
  grant_types: ['client_credentials'],
  scope: 'photos:read',
} satisfies ClientRegistration
const platform = signer('https://platform.example', '1')
const away = { private_key_jwt: { jwks_uri: 'https://127.0.0.1:1/' } }
const posting = bent(nightlyReport, {
  client_id: 'posting',
  token_endpoint_auth_method: 'client_secret_post',
})
const disabled = bent(photoBook, { client_id: 'disabled', disabled: true })
const some = registered(photoBook, photoPrint, nightlyReport, posting, disabled)

/** Clients that authenticate, one of them by assertions. */
function clientStage() {
  const set = open({
    clients: [...some, bank, { ...bank, client_id: 'published', credentials: away }],
    plugins: [privateKeyJwt({ issuers: [{ issuer: platform.issuer, jwks: { keys: [platform.jwk] } }] })],
  })
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  const send = (client_assertion: string) =>
    set.flow.submit('/token', { ...grant, client_assertion_type, client_assertion })
  const assert = (claims: object = {}, header: Fields = {}, by = own) => {
    const usual = { iss: 'bank', sub: 'bank', aud: 'http://localhost', exp: set.now() + 60, jti: 'j' }
    return send(jwt(by, { ...usual, ...claims }, header))
  }
  return { ...set, send, assert }
}

const as =
  (fields: Fields, headers: Headers = {}) =>
  ({ flow }: Opened) =>
    flow.submit('/token', { ...grant, ...fields }, undefined, headers)
const report = { client_id: 'nightly-report', client_secret: nightlyReport.secret }
const twoHeaders = ['Authorization', 'Basic YTpi', 'Authorization', 'Basic YTpi']

const off = { address: false, clientAndAddress: false, client: false } as const
const guess = (limits: object) => {
  const { flow } = open({ limits: { clientAuthentication: { ...off, ...limits } } })
  return twice(() => flow.request({ ...photoPrint, secret: 'wrong' }, grant))
}

export const clientAuthentication = area('client authentication', clientStage, {
  credential_in_query: ({ flow }) => flow.submit('/token?client_secret=x', grant),
  basic_too_long: as({}, { Authorization: basic('x'.repeat(257), 'x') }),
  basic_malformed: as({}, { Authorization: 'Basic ???' }),
  several_authorization_headers: post('/token', '', ...form, ...twoHeaders),
  several_methods: as(report, { Authorization: basic('nightly-report', 'x') }),
  'client_id_mismatch/authentication': ({ flow }) => flow.request(nightlyReport, { client_id: 'other' }),
  no_client_authentication: as({}),
  'no_client_authentication/attempted': as({}, { Authorization: 'Bearer x' }),
  'client_unknown/authentication': as({ client_id: 'nobody' }),
  'client_disabled/authentication': as({ client_id: 'disabled' }),
  client_not_authenticated: as({ ...report, client_secret: 'wrong' }),
  client_method_not_registered: ({ flow }) => flow.request(posting, grant),
  client_assertion_malformed: ({ send }) => send('none'),
  client_assertion_header_refused: ({ assert }) => assert({}, { typ: 'at+jwt' }),
  client_assertion_issuer_unknown: ({ assert }) => assert({ iss: 'another' }),
  client_assertion_algorithm_refused: ({ assert }) => assert({}, { alg: 'none' }),
  client_assertion_key_unknown: ({ assert }) => assert({}, { kid: '2' }),
  client_assertion_signature_wrong: ({ assert }) => assert({}, {}, foreign),
  client_assertion_audience_wrong: ({ assert }) => assert({ aud: 'http://localhost/token' }),
  client_assertion_expired: ({ assert, now }) => assert({ exp: now() - 30 }),
  client_assertion_too_long_lived: ({ assert, now }) => assert({ exp: now() + 331 }),
  client_assertion_not_yet_valid: ({ assert, now }) => assert({ nbf: now() + 31 }),
  client_assertion_incomplete: ({ assert }) => assert({ jti: undefined }),
  client_assertion_replayed: ({ assert }) => twice(assert),
  client_assertion_subject_wrong: ({ assert }) => assert({ iss: platform.issuer }, {}, platform),
  client_keys_unavailable: ({ assert }) => assert({ iss: 'published', sub: 'published' }),
  client_address_limited: () => guess({ address: once }),
  client_and_address_limited: () => guess({ clientAndAddress: once }),
  client_limited: () => guess({ client: once }),
  bcrypt_busy: async () => {
    const { flow } = open({ clients: registered(photoFrame), limits: { clientAuthentication: false } })
    const gate = new Gate()
    const compare = jest.spyOn(bcrypt, 'compare').mockImplementation(() => gate.pass().then(() => false))
    const guesses = Array.from({ length: 37 }, (_, at) =>
      flow.request({ ...photoFrame, secret: `${at}` }, grant),
    )
    const first = await Promise.race(guesses)
    gate.open()
    await Promise.all(guesses)
    compare.mockRestore()
    return first
  },
  secret_check_failed: () => {
    const moved = bent(photoFrame, { client_secret_hashes: ['x'.repeat(64)] })
    const verifyDigest = () => Promise.reject(new Error('The module is missing.'))
    return open({ clients: registered(moved), verifyDigest }).flow.request(moved, grant)
  },
  grant_type_unknown: ({ flow }) => flow.request(nightlyReport, { grant_type: 'none' }),
  grant_type_not_registered: ({ flow }) => flow.request(photoPrint, grant),
  introspection_not_registered: ({ flow }) => flow.introspect(photoPrint, 'x'),
  client_not_confidential: ({ flow }) => flow.introspect(photoBook, 'x'),
})
