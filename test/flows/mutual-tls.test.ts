import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import express from 'express'
import type { Response } from 'supertest'
import { mutualTls, optionsWith } from '../../docs/examples/mutual-tls'
import { ConfigurationError, type ClientRegistration } from '../../lib/index'
import { CertificateAuthority, type KeyAndCertificate } from '../support/certificate-authority'
import { otherCertificate, ownCertificate } from '../support/flows/certificates'
import { bent, type ClientApplication, nightlyReport, photoBook } from '../support/flows/clients'
import { basic, type Fields, formOf, type Headers, redemption } from '../support/flows/flow'
import { partOf } from '../support/flows/jwt-tokens'
import { job, photosApi } from '../support/flows/resources'
import { setStage } from '../support/flows/stage'
import { guardNames, stepUpStage } from '../support/flows/step-up-stage'
import { listening } from '../support/listening'
import { request } from '../support/request'

const member = 'tls_client_certificate_bound_access_tokens'
const authority = new CertificateAuthority()
const bankCertificate = authority.issue(['bank.example'])
const fundCertificate = authority.issue(['fund'], 1, 'Fund, Ltd')
const thumbprintOf = ({ cert }: KeyAndCertificate) =>
  Buffer.from(new X509Certificate(cert).fingerprint256.replaceAll(':', ''), 'hex').toString('base64url')

const [bank, broker] = optionsWith(thumbprintOf(ownCertificate)).clients
const named = (client_id: string, subject: string): ClientRegistration => ({
  ...bank!,
  client_id,
  credentials: { tls_client_auth: subject },
})
/** A public client whose refresh token stays the same, because the certificate binds it. */
const app: ClientApplication = bent(photoBook, {
  client_id: 'app',
  [member]: true,
  refresh_token_rotation: false,
  scope: 'photos:read',
})
const desk = bent(nightlyReport, { client_id: 'desk', [member]: true, scope: 'photos:read' })
const registrations: readonly ClientRegistration[] = [
  bank!,
  broker!,
  named('fund', 'CN=fund,O=Fund\\, Ltd'),
  // The subject of the authority itself.
  named('root', 'CN=A certificate authority of tests'),
  ...[app, desk, job].map(({ registration }) => registration),
]

type Shown = KeyAndCertificate | 'no TLS' | undefined
let set: Awaited<ReturnType<typeof open>>
beforeAll(async () => (set = await open()))
afterAll(() => set.stop())

/** A server and each guard of its JWTs, over TLS that trusts one authority. */
async function open() {
  // A function: nothing lists the clients before the method of a request is chosen.
  const find = async (id: string) => registrations.find(({ client_id }) => client_id === id)
  const stage = await stepUpStage({ clients: { find } }, [mutualTls])
  const host = express().use(stage.app)
  for (const [at, name] of guardNames.entries())
    host.get(`/guarded/${at}`, stage.guards[name]('photos:read', {}), (_req, res) => void res.json({}))
  const server = createServer(
    { ...otherCertificate, ca: authority.ca, requestCert: true, rejectUnauthorized: false },
    host,
  )
  const { close } = await listening(server)
  const stop = () => Promise.all([close(), stage.stop()])
  const send = (shown: Shown, headers: Headers, path: string, fields?: Fields) => {
    const agent = request(shown === 'no TLS' ? host : server)
    const call = (fields === undefined ? agent.get(path) : agent.post(path)).disableTLSCerts().set(headers)
    if (shown !== undefined && shown !== 'no TLS') call.key(shown.key).cert(shown.cert)
    return fields === undefined ? call : call.type('form').send(formOf(fields))
  }
  const ask = (client_id: string, shown: Shown, fields: Fields = {}, headers: Headers = {}) =>
    send(shown, headers, '/token', { client_id, grant_type: 'client_credentials', ...fields })
  return { ...stage, stop, send, ask }
}

const outcomeOf = ({ status, body }: Response) => [status, body.error].filter(Boolean).join(' ')
const secretOf = ({ registration: { client_id }, secret = '' }: ClientApplication) => ({
  Authorization: basic(client_id, secret),
})

test.each<
  [what: string, clientId: string, shown: Shown, outcome: string, fields?: Fields, headers?: Headers]
>([
  ['a subject that its authority proves', 'bank', bankCertificate, '200'],
  ['a subject of several parts', 'fund', fundCertificate, '200'],
  ['its own certificate', 'broker', ownCertificate, '200'],
  ['a secret, beside a certificate', 'desk', bankCertificate, '200', {}, secretOf(desk)],
  ['a secret in the form, beside it', 'desk', ownCertificate, '200', { client_secret: desk.secret }],
  ['no certificate', 'bank', undefined, '401 invalid_client'],
  ['no TLS', 'bank', 'no TLS', '401 invalid_client'],
  ['no certificate of its own', 'broker', undefined, '401 invalid_client'],
  ['another subject of the authority', 'bank', fundCertificate, '401 invalid_client'],
  [
    'its subject by a stranger',
    'bank',
    new CertificateAuthority().issue(['bank.example']),
    '401 invalid_client',
  ],
  ['an old certificate', 'bank', authority.issue(['bank.example'], -0.5), '401 invalid_client'],
  ['the certificate of an authority itself', 'root', authority.own, '401 invalid_client'],
  ['the self-signed one of another client', 'broker', otherCertificate, '401 invalid_client'],
  ['the certificate of another client', 'broker', bankCertificate, '401 invalid_client'],
  ['a certificate in place of its secret', 'desk', bankCertificate, '401 invalid_client'],
  [
    'a wrong secret beside its certificate',
    'bank',
    bankCertificate,
    '401 invalid_client',
    { client_secret: 'x' },
  ],
  ['a name that nobody has', 'nobody', bankCertificate, '401 invalid_client'],
  [
    'a secret without the certificate of its tokens',
    'desk',
    undefined,
    '400 invalid_request',
    {},
    secretOf(desk),
  ],
])('a client with %s', async (_, clientId, shown, outcome, fields = {}, headers = {}) => {
  expect(outcomeOf(await set.ask(clientId, shown, fields, headers))).toBe(outcome)
})

test.each(guardNames.map((name, at) => [name, at] as const))(
  'a guard lets a token in with its certificate alone: %s',
  async (name, at) => {
    const token = (await set.ask('bank', bankCertificate)).body.access_token
    const shown = [
      bankCertificate,
      authority.issue(['bank.example']),
      ownCertificate,
      undefined,
      'no TLS',
    ] as const
    const before = set.failures[name].length
    const outcomes = []
    for (const one of shown)
      outcomes.push(outcomeOf(await set.send(one, { Authorization: `Bearer ${token}` }, `/guarded/${at}`)))
    expect(outcomes).toEqual(['200', ...shown.slice(1).map(() => '401 invalid_token')])
    expect(set.failures[name].slice(before)).toEqual(
      shown.slice(1).map(() => expect.objectContaining({ reason: 'certificate_wrong' })),
    )
  },
)

test('the token and introspection name the certificate', async () => {
  const token = (await set.ask('broker', ownCertificate)).body.access_token
  const cnf = { 'x5t#S256': thumbprintOf(ownCertificate) }
  expect(partOf(token, 1)).toMatchObject({ cnf })
  expect((await set.flow.introspect(job, token)).body).toMatchObject({
    active: true,
    token_type: 'bearer',
    cnf,
  })
  expect((await set.flow.request(job, { grant_type: 'client_credentials' })).body.cnf).toBeUndefined()
})

test('a public client needs the same certificate for each refresh, and keeps its refresh token', async () => {
  const code = await set.flow.approve(app, { resource: photosApi })
  const redeem = (shown: Shown) => set.ask('app', shown, redemption(app, code))
  expect(outcomeOf(await redeem(undefined))).toBe('400 invalid_request')
  const first = (await redeem(ownCertificate)).body
  const refresh = (shown: Shown) =>
    set.ask('app', shown, { grant_type: 'refresh_token', refresh_token: first.refresh_token })
  for (const shown of [undefined, 'no TLS', bankCertificate] as const)
    expect(outcomeOf(await refresh(shown))).toBe('400 invalid_grant')
  for (const round of [1, 2]) {
    const { status, body } = await refresh(ownCertificate)
    expect([round, status, body.refresh_token ?? first.refresh_token]).toEqual([
      round,
      200,
      first.refresh_token,
    ])
    expect(partOf(body.access_token, 1)).toMatchObject({ cnf: { 'x5t#S256': thumbprintOf(ownCertificate) } })
  }
})

test('the metadata name both methods, and that tokens can be bound', async () => {
  expect((await set.flow.open('/.well-known/oauth-authorization-server')).body).toMatchObject({
    [member]: true,
    token_endpoint_auth_methods_supported: expect.arrayContaining([
      'tls_client_auth',
      'self_signed_tls_client_auth',
    ]),
  })
})

test.each<[string, Partial<ClientRegistration>]>([
  ['a subject that is none', { credentials: { tls_client_auth: 'bank' } }],
  ['no thumbprint', { credentials: { self_signed_tls_client_auth: [] } }],
  ['a hexadecimal thumbprint', { credentials: { self_signed_tls_client_auth: ['a'.repeat(64)] } }],
  ['a text for a truth', { [member]: JSON.parse('"true"') }],
])('a registration with %s is refused', (_, bend) => {
  expect(() => setStage({ plugins: [mutualTls], clients: [{ ...bank!, ...bend }] })).toThrow(
    ConfigurationError,
  )
})
