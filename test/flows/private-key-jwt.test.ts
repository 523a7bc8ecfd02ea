import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { Passport } from 'passport'
import {
  ConfigurationError,
  deviceAuthorization,
  dpop,
  type EndpointRequest,
  memoryClients,
  metadataDocuments,
  privateKeyJwt,
  pushedAuthorizationRequests,
  type ClientRegistration,
  type DocumentFetch,
  type Json,
  type PrivateKeyJwtOptions,
} from '../../lib/index'
import { application, type Mount } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { authority, httpsOrigin } from '../support/https-origin'
import { nightlyReport } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { deviceCode, deviceSecret } from '../support/flows/device-stage'
import { authorizationRequest, type Fields, formOf, redemption } from '../support/flows/flow'
import { fetchOf } from '../support/flows/opened-documents'
import { Prover } from '../support/flows/prover'
import { refusedOptions } from '../support/flows/refused-fields'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const issuer = 'http://localhost'
const tokenEndpoint = 'http://localhost/token'
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const [own, second, foreign] = [pair(), pair(), pair()]
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwkOf = (key: KeyObject, kid: string): Json => ({ ...key.export({ format: 'jwk' }), kid })

const bank = {
  client_id: 'bank',
  client_type: 'confidential',
  credentials: { private_key_jwt: { keys: [jwkOf(own.publicKey, '1'), jwkOf(second.publicKey, '2')] } },
  token_endpoint_auth_method: 'private_key_jwt',
  grant_types: ['client_credentials'],
  scope: 'photos:read',
} satisfies ClientRegistration
const broker = {
  ...bank,
  client_id: 'broker',
  credentials: { private_key_jwt: { keys: [jwkOf(foreign.publicKey, '1')] } },
}

const publisher = {
  ...bank,
  client_id: 'publisher',
  credentials: { private_key_jwt: { jwks_uri: 'https://publisher.example/jwks.json' } },
}

const clients: ClientRegistration[] = [bank, broker, publisher, nightlyReport.registration]

function host(stage: SetStage, options?: PrivateKeyJwtOptions) {
  return stage({ clients, clientAuthenticationMethods: [privateKeyJwt(options)] })
}
type Host = Pick<ReturnType<typeof host>, 'flow' | 'clock' | 'failures'>

interface Bend {
  readonly claims?: object
  /** Claims that are so many seconds from now. */
  readonly times?: Readonly<Record<string, number>>
  readonly header?: object
  readonly key?: KeyObject
}

/** An assertion as the bank's own software makes it, with something bent. */
function assertionAt(
  { clock }: Host,
  { claims, times = {}, header, key = own.privateKey }: Bend = {},
): string {
  const now = Math.floor(clock.read() / 1000)
  const ahead = Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, now + seconds]))
  const said = {
    iss: 'bank',
    sub: 'bank',
    aud: issuer,
    exp: now + 60,
    jti: randomUUID(),
    ...claims,
    ...ahead,
  }
  const text = [{ alg: 'ES256', kid: '1', ...header }, said]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

const ask = ({ flow }: Host, client_assertion: string, fields: Fields = {}, headers = {}) =>
  flow.submit(
    '/token',
    { ...grant, client_assertion_type: assertionType, client_assertion, ...fields },
    undefined,
    headers,
  )

describeOnStores('A client that signs who it is', (stage) => {
  test.each<[string, Bend]>([
    ['for the issuer', {}],
    ['with the type of client assertions', { header: { typ: 'client-authentication+jwt' } }],
    ['that says when it began', { times: { iat: 0, nbf: -30 } }],
    ['that lives as long as it may', { times: { exp: 330 } }],
    ['of a clock that is behind', { times: { exp: -29 } }],
  ])('gets tokens for an assertion %s', async (_, bend) => {
    const set = host(stage)
    const { accessToken } = tokensOf(await ask(set, assertionAt(set, bend)))
    expect((await set.flow.photos(accessToken)).body).toMatchObject({ clientId: 'bank' })
  })

  test('may name the token endpoint where the server allows it, but nothing beside it [jwt-19]', async () => {
    const set = host(stage, { tokenEndpointAudience: true })
    for (const aud of [issuer, [tokenEndpoint]])
      tokensOf(await ask(set, assertionAt(set, { claims: { aud } })))
    for (const aud of [[issuer, tokenEndpoint], `${issuer}/revoke`]) {
      const response = await ask(set, assertionAt(set, { claims: { aud } }))
      expect(refusalOf(response)).toBe('401 invalid_client')
    }
  })

  test('authenticates so at the other endpoints, too', async () => {
    const set = host(stage)
    const { accessToken } = tokensOf(await ask(set, assertionAt(set)))
    const fields = { token: accessToken, client_assertion_type: assertionType }
    const revoked = await set.flow.submit('/revoke', { ...fields, client_assertion: assertionAt(set) })
    expect(revoked.status).toBe(200)
    expect((await set.flow.photos(accessToken)).status).toBe(401)
  })

  test.each<[reason: string, title: string, bend: Bend]>([
    ['signature_wrong', 'signed by another client', { key: foreign.privateKey }],
    [
      'signature_wrong',
      'of another client, signed by its own key',
      { claims: { iss: 'broker', sub: 'broker' } },
    ],
    ['audience_wrong', 'for the token endpoint', { claims: { aud: tokenEndpoint } }],
    ['audience_wrong', 'for others, too', { claims: { aud: [issuer, 'https://other.example'] } }],
    ['audience_wrong', 'for the issuer twice', { claims: { aud: [issuer, issuer] } }],
    ['incomplete', 'without an expiry', { claims: { exp: undefined } }],
    ['expired', 'that has expired', { times: { exp: -30 } }],
    ['too_long_lived', 'that lives too long', { times: { exp: 331 } }],
    ['not_yet_valid', 'that is not good yet', { times: { nbf: 31 } }],
    ['incomplete', 'without an id', { claims: { jti: undefined } }],
    ['incomplete', 'with an id that is no text', { claims: { jti: 7 } }],
    ['algorithm_refused', 'without a signature', { header: { alg: 'none' } }],
    ['header_refused', 'without an algorithm', { header: { alg: undefined } }],
    ['key_unknown', 'by another algorithm', { header: { alg: 'RS256' }, key: rsa.privateKey }],
    ['key_unknown', 'that names no key, where the client has two', { header: { kid: undefined } }],
    [
      'signature_wrong',
      'that brings its own key',
      { header: { jwk: jwkOf(foreign.publicKey, '1') }, key: foreign.privateKey },
    ],
    ['header_refused', 'with an unknown critical header', { header: { crit: ['x'], x: 1 } }],
    ['header_refused', 'of the type of an access token', { header: { typ: 'at+jwt' } }],
  ])('is refused (%s) with an assertion %s [client-30]', async (reason, _title, bend) => {
    const set = host(stage)
    const response = await ask(set, assertionAt(set, bend))
    expect(refusalOf(response)).toBe('401 invalid_client')
    expect(response.body.error_description).toBe('Client authentication failed.')
    expect(response.get('WWW-Authenticate')).toBe('Basic realm="oauth", charset="UTF-8"')
    expect(set.failures).toMatchObject([{ reason: `client_assertion_${reason}`, cause: undefined }])
  })

  test.each<[reason: string, title: string, id: string]>([
    ['client_unknown', 'unknown', 'nobody'],
    ['client_unknown', 'named like a member of every object', '__proto__'],
    ['client_not_authenticated', 'without keys', 'nightly-report'],
  ])('is refused (%s) with the same description if it is %s [client-30]', async (reason, _title, id) => {
    const set = host(stage)
    for (const header of [{}, { alg: 'EdDSA', kid: undefined }]) {
      const response = await ask(set, assertionAt(set, { header, claims: { iss: id, sub: id } }))
      expect(refusalOf(response)).toBe('401 invalid_client')
      expect(response.body.error_description).toBe('Client authentication failed.')
    }
    expect(new Set(set.failures.map((failure) => failure.reason))).toEqual(new Set([reason]))
  })

  test('uses an assertion once, of parallel requests too, and never again [client-31]', async () => {
    const set = host(stage)
    const assertion = assertionAt(set)
    const responses = await Promise.all([1, 2, 3].map(() => ask(set, assertion)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(2)
    expect(set.failures).toMatchObject([
      { reason: 'client_assertion_replayed' },
      { reason: 'client_assertion_replayed' },
    ])
    for (const seconds of [0, 59, 29, 1, 1, 3600]) {
      set.clock.advance(seconds)
      expect(refusalOf(await ask(set, assertion))).toBe('401 invalid_client')
    }
  })

  test('uses an assertion once at two servers of one issuer, and once more at another issuer [client-31]', async () => {
    const set = host(stage)
    const always = { store: set.store, clock: set.clock.read, storeDeadline: 10, clients }
    const twin = application({ ...always, clientAuthenticationMethods: [privateKeyJwt()] })
    const assertion = assertionAt(set)
    const responses = await Promise.all(
      [set, twin, set, twin].map(({ flow }) => ask({ ...set, flow }, assertion)),
    )
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401])
    const claims = { jti: 'one' }
    tokensOf(await ask(set, assertionAt(set, { claims })))
    const otherIssuer = 'http://127.0.0.1'
    const other = application({
      ...always,
      issuer: otherIssuer,
      clientAuthenticationMethods: [privateKeyJwt()],
    })
    const here = { ...set, flow: other.flow }
    tokensOf(await ask(here, assertionAt(set, { claims: { ...claims, aud: otherIssuer } })))
  })

  test('uses an assertion once also where a process has a clock that is behind', async () => {
    const set = host(stage)
    const clientAuthenticationMethods = [privateKeyJwt()]
    const late = () => set.clock.read() - 29_000
    const behind = application({
      store: set.store,
      storeDeadline: 10,
      clients,
      clientAuthenticationMethods,
      clock: late,
    })
    const assertion = assertionAt(set)
    tokensOf(await ask(set, assertion))
    for (const seconds of [89, 1, 28, 1]) {
      set.clock.advance(seconds)
      expect(refusalOf(await ask({ ...set, flow: behind.flow }, assertion))).toBe('401 invalid_client')
    }
  })

  describe('uses no assertion up with a request that is refused for another reason', () => {
    const hub = {
      ...bank,
      client_id: 'hub',
      redirect_uris: ['https://hub.example/cb'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials', deviceCode],
      may_introspect: true,
    } satisfies ClientRegistration
    const open = () => {
      const store = stage({
        clients: [hub],
        clientAuthenticationMethods: [privateKeyJwt()],
        plugIns: [
          pushedAuthorizationRequests(),
          deviceAuthorization({ secret: deviceSecret }),
          dpop({ baseUrl: issuer, nonces: {} }),
        ],
      })
      const prover = new Prover(store.clock.read)
      const send = (client_assertion: string, path: string, fields: Fields, DPoP?: string) =>
        store.flow.submit(
          path,
          { client_assertion_type: assertionType, client_assertion, ...fields },
          undefined,
          DPoP === undefined ? {} : { DPoP },
        )
      return { ...store, prover, send, assertion: assertionAt(store, { claims: { iss: 'hub', sub: 'hub' } }) }
    }
    const pushed: Fields = { ...authorizationRequest({ registration: hub }), scope: 'photos:read' }
    const noToken: Fields = { token: undefined }

    test.each<[string, string, Fields, string, Fields]>([
      ['a scope', '/token', { ...grant, scope: 'reports:write' }, '400 invalid_scope', grant],
      ['a grant', '/token', { grant_type: 'refresh_token', refresh_token: 'x' }, '400 invalid_grant', grant],
      ['a grant type', '/token', { grant_type: 'x' }, '400 unsupported_grant_type', grant],
      ['a push', '/par', { ...pushed, response_type: 'x' }, '400 unsupported_response_type', pushed],
      ['a device', '/device_authorization', { scope: 'x' }, '400 invalid_scope', { scope: 'photos:read' }],
      ['revocation', '/revoke', noToken, '400 invalid_request', { token: 'x' }],
    ])('%s at %s', async (_, path, bad, refusal, good) => {
      const { send, assertion } = open()
      const answer = await send(assertion, path, bad)
      expect(refusalOf(answer)).toBe(refusal)
      expect((await send(assertion, path, good)).status).toBeLessThan(300)
      expect(refusalOf(await send(assertion, path, good))).toBe('401 invalid_client')
    })

    test.each<[string, Fields]>([
      ['/token', grant],
      ['/par', pushed],
    ])('the demand of a DPoP nonce at %s, and the same body comes again', async (path, fields) => {
      const { send, assertion, prover, failures } = open()
      const answer = await send(assertion, path, fields, prover.proof('POST', path))
      expect(refusalOf(answer)).toBe('400 use_dpop_nonce')
      prover.nonce = answer.get('DPoP-Nonce')
      const proof = prover.proof('POST', path)
      expect((await send(assertion, path, fields, proof)).status).toBeLessThan(300)
      expect(refusalOf(await send(assertion, path, fields, prover.proof('POST', path)))).toBe(
        '401 invalid_client',
      )
      expect(failures.at(-1)).toMatchObject({ reason: 'client_assertion_replayed' })
    })

    test('and a replay with a code that was redeemed ends nothing', async () => {
      const { send, assertion, flow } = open()
      const code = await flow.approve({ registration: hub })
      const redeem = redemption({ registration: hub }, code)
      const { accessToken } = tokensOf(await send(assertion, '/token', redeem))
      expect(refusalOf(await send(assertion, '/token', redeem))).toBe('401 invalid_client')
      expect((await flow.photos(accessToken)).status).toBe(200)
    })
  })

  test('is used up before an endpoint of the host, which may have effects, acts', async () => {
    let acts = 0
    const early = { name: 'own', path: '/own', handle: async () => ({ members: { acts: ++acts } }) }
    const late = {
      ...early,
      name: 'late',
      path: '/late',
      usesUpLast: true,
      handle: async ({ useUp, parameters }: EndpointRequest) => {
        parameters.require('good')
        await useUp?.()
        return early.handle()
      },
    }
    const set = stage({ clients, clientAuthenticationMethods: [privateKeyJwt()], endpoints: [early, late] })
    const assertions = [assertionAt(set), assertionAt(set)]
    const send = (path: string, at: number, fields: Fields = {}) => {
      const client_assertion = assertions[at]
      return set.flow.submit(path, { client_assertion_type: assertionType, client_assertion, ...fields })
    }
    const statuses = [await send('/own', 0), await send('/own', 0), await send('/late', 1)]
    const more = [await send('/late', 1, { good: 'yes' }), await send('/late', 1, { good: 'yes' })]
    expect([...statuses, ...more].map(({ status }) => status)).toEqual([200, 401, 400, 200, 401])
    expect(acts).toBe(2)
  })

  test.each<[string, (set: Host) => Fields | string]>([
    ['an assertion without its type', (set) => ({ client_assertion: assertionAt(set) })],
    ['another type', (set) => ({ client_assertion_type: 'saml2', client_assertion: assertionAt(set) })],
    [
      'a huge assertion',
      (set) => ({
        client_assertion_type: assertionType,
        client_assertion: assertionAt(set, { claims: { more: 'x'.repeat(16_384) } }),
      }),
    ],
    [
      'a subject that is no identifier',
      (set) => ({
        client_assertion_type: assertionType,
        client_assertion: assertionAt(set, { claims: { sub: 'x'.repeat(257) } }),
      }),
    ],
    ['no JWT', () => ({ client_assertion_type: assertionType, client_assertion: 'x.y.z' })],
    [
      'a client_secret too',
      (set) => ({
        client_assertion_type: assertionType,
        client_assertion: assertionAt(set),
        client_id: 'bank',
        client_secret: 'x',
      }),
    ],
    [
      'two assertions',
      (set) =>
        `${formOf({ client_assertion_type: assertionType, client_assertion: assertionAt(set) })}&client_assertion=x`,
    ],
    ['what is not form encoded', () => `client_assertion_type=${assertionType}&client_assertion=%zz`],
  ])('refuses %s as an invalid request', async (_, fields) => {
    const set = host(stage)
    const sent = fields(set)
    const body = `${formOf(grant)}&${formOf(sent)}`
    expect(refusalOf(await set.flow.submit('/token', body))).toBe('400 invalid_request')
  })

  test('refuses an assertion in the request URI', async () => {
    const set = host(stage)
    const query = formOf({ client_assertion_type: assertionType, client_assertion: assertionAt(set) })
    expect(refusalOf(await set.flow.submit(`/token?${query}`, grant))).toBe('400 invalid_request')
  })

  test('authenticates at a Passport instance of the host, too', async () => {
    const mount: Mount = (app, oauth) => {
      const passport = new Passport()
      for (const strategy of oauth.strategies) passport.use(strategy)
      const byKey = passport.authenticate('private_key_jwt', { session: false, failWithError: true })
      app.post('/token', byKey, oauth.token())
    }
    const set = stage({ clients, clientAuthenticationMethods: [privateKeyJwt()] }, { mount })
    const assertion = assertionAt(set)
    tokensOf(await ask(set, assertion))
    expect(refusalOf(await ask(set, assertion))).toBe('401 invalid_client')
    expect(refusalOf(await set.flow.request(nightlyReport, grant))).toBe('401 invalid_client')
  })

  test('registers with its keys while the server runs, and is shut out at once when it is disabled', async () => {
    const registry = memoryClients()
    const set = stage({ clients: registry, clientAuthenticationMethods: [privateKeyJwt()] })
    await set.oauth.registerClient(bank)
    tokensOf(await ask(set, assertionAt(set)))
    await set.oauth.disableClient('bank')
    const assertion = assertionAt(set)
    expect(refusalOf(await ask(set, assertion))).toBe('401 invalid_client')
    expect(set.failures).toMatchObject([{ reason: 'client_disabled' }])
    await set.oauth.enableClient('bank')
    tokensOf(await ask(set, assertion))
  })

  test('is in the metadata with every algorithm that it may use, and in the strategies', async () => {
    const set = host(stage, { algorithms: ['ES256', 'PS256'] })
    const { body } = await set.flow.open('/.well-known/oauth-authorization-server')
    expect(body.token_endpoint_auth_methods_supported).toContain('private_key_jwt')
    for (const endpoint of ['token', 'revocation', 'introspection'])
      expect(body[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toEqual(['ES256', 'PS256'])
    expect(set.oauth.strategies.map(({ name }) => name)).toContain('private_key_jwt')
    expect((await stage().flow.open('/.well-known/oauth-authorization-server')).body).not.toHaveProperty(
      'token_endpoint_auth_signing_alg_values_supported',
    )
  })
})

describeOnStores('A client that publishes its keys', (stage) => {
  const uri = publisher.credentials.private_key_jwt.jwks_uri

  /** What the client publishes, and how often the server asked. */
  function publication(...keys: Json[]) {
    const asked: string[] = []
    const state: { keys: Json[] | undefined } = { keys }
    const documents: DocumentFetch = {
      async fetch(url) {
        asked.push(url)
        if (state.keys === undefined) throw new Error('The document is not available.')
        return { json: { keys: state.keys }, maximumAge: 60 }
      },
    }
    return { asked, state, documents }
  }

  const claims = { iss: 'publisher', sub: 'publisher' }

  test('authenticates by them, with one fetch for as long as the headers allow', async () => {
    const { asked, documents } = publication(jwkOf(own.publicKey, '1'))
    const set = host(stage, { documents })
    await Promise.all([1, 2, 3].map(async () => tokensOf(await ask(set, assertionAt(set, { claims })))))
    set.clock.advance(59)
    tokensOf(await ask(set, assertionAt(set, { claims })))
    expect(asked).toEqual([uri])
    set.clock.advance(1)
    tokensOf(await ask(set, assertionAt(set, { claims })))
    expect(asked).toEqual([uri, uri])
  })

  test('may change them at once, but unknown keys make one fetch in 10 seconds', async () => {
    const { asked, state, documents } = publication(jwkOf(own.publicKey, '1'))
    const set = host(stage, { documents })
    tokensOf(await ask(set, assertionAt(set, { claims })))
    state.keys = [jwkOf(second.publicKey, '2')]
    const changed = () => assertionAt(set, { claims, header: { kid: '2' }, key: second.privateKey })
    expect(refusalOf(await ask(set, changed()))).toBe('401 invalid_client')
    set.clock.advance(10)
    tokensOf(await ask(set, changed()))
    for (let times = 0; times < 3; times++) {
      const response = await ask(set, assertionAt(set, { claims, header: { kid: `made up ${times}` } }))
      expect(refusalOf(response)).toBe('401 invalid_client')
    }
    expect(asked).toEqual([uri, uri])
  })

  test('is not asked for unknown keys by a network over its limit, and still proves itself there', async () => {
    const { asked, documents } = publication(jwkOf(own.publicKey, '1'))
    const networks = { clients: { attempts: 3, seconds: 3600 } }
    const set = stage({
      clients,
      clientAuthenticationMethods: [privateKeyJwt({ documents })],
      limits: { networks },
    })
    tokensOf(await ask(set, assertionAt(set, { claims })))
    for (let times = 0; times < 4; times++) await set.flow.submit('/token', { client_id: 'nobody' })
    set.clock.advance(10)
    const unknown = await ask(set, assertionAt(set, { claims, header: { kid: '2' } }))
    expect(unknown.status).toBe(429)
    tokensOf(await ask(set, assertionAt(set, { claims })))
    set.clock.advance(60)
    tokensOf(await ask(set, assertionAt(set, { claims })))
    expect(asked).toEqual([uri])
  })

  test('is asked to try again while they cannot be had, and keeps its assertion', async () => {
    const { state, documents } = publication()
    const set = host(stage, { documents })
    for (const keys of [undefined, [] as Json[]]) {
      state.keys = keys
      const expected = keys === undefined ? '400 temporarily_unavailable' : '401 invalid_client'
      expect(refusalOf(await ask(set, assertionAt(set, { claims })))).toBe(expected)
      set.clock.advance(10)
    }
    state.keys = undefined
    const assertion = assertionAt(set, { claims, times: { exp: 120 } })
    set.clock.advance(60)
    const response = await ask(set, assertion)
    expect(refusalOf(response)).toBe('400 temporarily_unavailable')
    expect(response.get('Retry-After')).toBe('1')
    expect(set.failures.at(-1)).toMatchObject({ reason: 'client_keys_unavailable' })
    state.keys = [jwkOf(own.publicKey, '1')]
    set.clock.advance(10)
    tokensOf(await ask(set, assertion))
  })

  test('is asked as a named one, and its keys stand in for an hour while others use up the limits of its host [document-8]', async () => {
    const seen: unknown[] = []
    const limited = fetchOf({ lookup: async () => [] }, { clock: new Clock().read })
    let isLimited = false
    const documents: DocumentFetch = {
      async fetch(url, size, inquiry) {
        seen.push(inquiry?.trust)
        if (isLimited) for (let times = 0; ; times++) await limited.fetch(url, size, inquiry).catch(orLimited)
        return { json: { keys: [jwkOf(own.publicKey, '1')] }, maximumAge: 60 }
      },
    }
    const orLimited = (error: unknown) => {
      if (Object(error).reason === 'limited') throw error
    }
    const set = host(stage, { documents })
    tokensOf(await ask(set, assertionAt(set, { claims })))
    isLimited = true
    set.clock.advance(3599)
    tokensOf(await ask(set, assertionAt(set, { claims })))
    // The client may have changed its keys.
    const changed = assertionAt(set, { claims, header: { kid: '2' }, key: second.privateKey })
    expect(refusalOf(await ask(set, changed))).toBe('400 temporarily_unavailable')
    set.clock.advance(1)
    expect(refusalOf(await ask(set, assertionAt(set, { claims })))).toBe('400 temporarily_unavailable')
    expect(new Set(seen)).toEqual(new Set(['named']))
  })

  test.each([
    ['its own host', 'https://notes.example/keys', ['known', 'known']],
    ['another host', 'https://evil.example/keys', ['unknown', 'known']],
  ])('at the URL of a document is not asked as a named one: at %s', async (_, jwks_uri, trust) => {
    const id = 'https://notes.example/client.json'
    const members = { token_endpoint_auth_method: 'private_key_jwt', grant_types: ['client_credentials'] }
    const document = { client_id: id, client_name: 'Notes', redirect_uris: ['https://notes.example/cb'] }
    const seen: unknown[] = []
    const documents: DocumentFetch = {
      async fetch(url, _size, inquiry) {
        if (url === id)
          return { json: { ...document, ...members, response_types: [], jwks_uri }, maximumAge: 600 }
        seen.push(inquiry?.trust)
        return { json: { keys: [jwkOf(own.publicKey, '1')] }, maximumAge: 60 }
      },
    }
    const set = stage({
      clients: metadataDocuments({ documents, grantTypes: ['authorization_code', 'client_credentials'] }),
      clientAuthenticationMethods: [privateKeyJwt()],
    })
    const come = async () => tokensOf(await ask(set, assertionAt(set, { claims: { iss: id, sub: id } })))
    await come()
    set.clock.advance(60)
    await come()
    expect(seen).toEqual(trust)
  })

  test.each([12, 13])('may be registered with 12 keys in place of them, and not with more: %d', (count) => {
    const keys = Array.from({ length: count }, (_, at) => jwkOf(own.publicKey, `${at}`))
    const client = { ...bank, credentials: { private_key_jwt: { keys } } }
    const options = { clients: [client], clientAuthenticationMethods: [privateKeyJwt()] }
    expect(refusedOptions(options)).toHaveLength(count - 12)
  })

  test('may publish 32 keys, and no more', async () => {
    const { state, documents } = publication()
    const set = host(stage, { documents })
    const key = jwkOf(own.publicKey, '1')
    for (const [count, status] of [
      [33, 400],
      [32, 200],
    ] as const) {
      const others = Array.from({ length: count - 1 }, (_, index) =>
        jwkOf(second.publicKey, `other ${index}`),
      )
      state.keys = [...others, key]
      expect((await ask(set, assertionAt(set, { claims }))).status).toBe(status)
      set.clock.advance(10)
    }
  })

  test('is asked for nothing by an assertion that names another address', async () => {
    const { asked, documents } = publication(jwkOf(own.publicKey, '1'))
    const set = host(stage, { documents })
    const header = { jku: 'https://evil.example/jwks.json', x5u: 'https://evil.example/chain.pem' }
    expect(refusalOf(await ask(set, assertionAt(set, { claims, header, key: foreign.privateKey })))).toBe(
      '401 invalid_client',
    )
    tokensOf(await ask(set, assertionAt(set)))
    expect(asked).toEqual([uri])
  })
})

describe('Keys of a client over https', () => {
  const json = { 'Content-Type': 'application/jwk-set+json' }
  const jwks = JSON.stringify({ keys: [jwkOf(own.publicKey, '1')] })

  /** A client that publishes on this machine, asked by a server on this machine. */
  async function withOrigin(answer: RequestListener, visit: (set: Host) => Promise<void>) {
    const origin = await httpsOrigin(authority.issue(['127.0.0.1']), answer)
    try {
      const documents = fetchOf({ ca: authority.ca })
      const jwks_uri = `https://127.0.0.1:${origin.port}/jwks.json`
      const client = { ...publisher, credentials: { private_key_jwt: { jwks_uri } } }
      const clientAuthenticationMethods = [privateKeyJwt({ documents })]
      const { flow, failures } = application({ clients: [client], clientAuthenticationMethods })
      await visit({ flow, failures, clock: new Clock() })
      return origin.connections()
    } finally {
      await origin.close()
    }
  }

  const claims = { iss: 'publisher', sub: 'publisher' }

  test('authenticate the client', async () => {
    const connections = await withOrigin(
      (_request, response) => void response.writeHead(200, json).end(jwks),
      async (set) => {
        for (let times = 0; times < 3; times++) tokensOf(await ask(set, assertionAt(set, { claims })))
      },
    )
    expect(connections).toBe(1)
  })

  test('may have 64 KiB', async () => {
    const largest = `${' '.repeat(64 * 1024 - jwks.length)}${jwks}`
    await withOrigin(
      (_request, response) => void response.writeHead(200, json).end(largest),
      async (set) => expect((await ask(set, assertionAt(set, { claims }))).status).toBe(200),
    )
  })

  test.each<[string, RequestListener]>([
    ['are no JWK set', (_, response) => void response.writeHead(200, json).end('[]')],
    ['are huge', (_, response) => void response.writeHead(200, json).end(`${' '.repeat(64 * 1024)}${jwks}`)],
  ])('that %s are a reason to try again, and none to refuse the client', async (_, answer) => {
    await withOrigin(answer, async (set) => {
      expect(refusalOf(await ask(set, assertionAt(set, { claims })))).toBe('400 temporarily_unavailable')
      expect(set.failures).toMatchObject([{ reason: 'client_keys_unavailable' }])
    })
  })
})

describe('A registration with keys', () => {
  const register = (private_key_jwt: Json) => () =>
    application({
      clients: [{ ...bank, credentials: { private_key_jwt } }],
      clientAuthenticationMethods: [privateKeyJwt()],
    })

  test.each<[string, Json]>([
    ['a key on a curve', { keys: [jwkOf(own.publicKey, '1')] }],
    ['an RSA key', { keys: [jwkOf(rsa.publicKey, '1')] }],
    ['an address of keys', { jwks_uri: 'https://bank.example/jwks.json' }],
  ])('may have %s', (_, credential) => {
    expect(register(credential)).not.toThrow()
  })

  test.each<[string, Json]>([
    ['a private key', { keys: [jwkOf(own.privateKey, '1')] }],
    ['a shared secret', { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] }],
    ['a weak key', { keys: [jwkOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey, '1')] }],
    ['a broken key', { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] }],
    ['no key', { keys: [] }],
    [
      'keys for encryption only',
      { keys: [{ ...own.publicKey.export({ format: 'jwk' }), use: 'enc' }] as Json },
    ],
    ['a key outside a set', jwkOf(own.publicKey, '1')],
    ['both', { keys: [jwkOf(own.publicKey, '1')], jwks_uri: 'https://bank.example/jwks.json' }],
    ['an address without TLS', { jwks_uri: 'http://bank.example/jwks.json' }],
    ['an address with a password', { jwks_uri: 'https://a:b@bank.example/jwks.json' }],
    ['an address that is none', { jwks_uri: 7 }],
  ])('cannot have %s', (_, credential) => {
    expect(register(credential)).toThrow(ConfigurationError)
    expect(register(credential)).toThrow('clients[0].credentials.private_key_jwt must ')
  })
})

describe('The options of privateKeyJwt()', () => {
  test.each<[string, object]>([
    ['algorithms must be', { algorithms: ['none'] }],
    ['algorithms must be', { algorithms: [] }],
    ['clockTolerance must be', { clockTolerance: 301 }],
    ['maximumLifetime must be', { maximumLifetime: 0 }],
    ['tokenEndpointAudience must be', { tokenEndpointAudience: 'yes' }],
    ['documents must have', { documents: {} }],
    ['audience is not known', { audience: 'x' }],
  ])('%s', (message, options) => {
    expect(() => privateKeyJwt(options)).toThrow(ConfigurationError)
    expect(() => privateKeyJwt(options)).toThrow(message)
  })
})
