import { randomUUID } from 'node:crypto'
import { Passport } from 'passport'
import type { EndpointRequest, ClientRegistration, DocumentFetch } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { dpop } from '../../lib/paths/dpop'
import { anyCapabilities, parseStoredClient } from '../../lib/protocol/parse-client'
import { metadataDocuments } from '../../lib/paths/registration'
import { privateKeyJwt, type PrivateKeyJwtOptions } from '../../lib/paths/jwt'
import { pushedAuthorizationRequests } from '../../lib/paths/pushed-requests'
import { application, type Mount } from '../support/flows/application'
import { Clock } from '../support/flows/clock'
import { authority, httpsOrigin } from '../support/https-origin'
import { nightlyReport } from '../support/flows/clients'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { deviceCode, deviceSecret } from '../support/flows/device-stage'
import { authorizationRequest, type Fields, formOf, redemption } from '../support/flows/flow'
import { fetchOf } from '../support/flows/opened-documents'
import { Prover } from '../support/flows/prover'
import { jwt, signer, type Signer } from '../support/assertions/jwt'
import { outcomeOf } from '../support/flows/outcome'
import { type Maker, mistakesOf } from '../support/mistakes-of'
import { refusedOptions } from '../support/flows/refused-fields'
import { refusalOf, tokensOf } from '../support/flows/tokens'

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const issuer = 'http://localhost'
const tokenEndpoint = 'http://localhost/token'
const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

const [own, second, foreign] = [signer('bank', '1'), signer('bank', '2'), signer('broker', '1')]
const rsa = signer('bank', '1', 'RS256')

const bank = {
  client_id: 'bank',
  client_type: 'confidential',
  credentials: { private_key_jwt: { keys: [own.jwk, second.jwk] } },
  token_endpoint_auth_method: 'private_key_jwt',
  grant_types: ['client_credentials'],
  scope: 'photos:read',
} satisfies ClientRegistration
const broker = {
  ...bank,
  client_id: 'broker',
  credentials: { private_key_jwt: { keys: [foreign.jwk] } },
}

const publisher = {
  ...bank,
  client_id: 'publisher',
  credentials: { private_key_jwt: { jwks_uri: 'https://publisher.example/jwks.json' } },
}

const clients: ClientRegistration[] = [bank, broker, publisher, nightlyReport.registration]

function host(stage: SetStage, options?: PrivateKeyJwtOptions) {
  return stage({ clients, plugins: [privateKeyJwt(options)] })
}
type Host = Pick<ReturnType<typeof host>, 'flow' | 'clock' | 'failures'>

interface Bend {
  readonly claims?: object
  /** Claims that are so many seconds from now. */
  readonly times?: Readonly<Record<string, number>>
  readonly header?: object
  readonly by?: Signer
}

/** An assertion as the bank's own software makes it, with something bent. */
function assertionAt({ clock }: Host, { claims, times = {}, header, by = own }: Bend = {}): string {
  const now = Math.floor(clock.read() / 1000)
  const ahead = Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, now + seconds]))
  const usual = { iss: 'bank', sub: 'bank', aud: issuer, exp: now + 60, jti: randomUUID() }
  return jwt(by, { ...usual, ...claims, ...ahead }, { typ: undefined, ...header })
}

const ask = ({ flow }: Host, client_assertion: string) =>
  flow.submit('/token', { ...grant, client_assertion_type: assertionType, client_assertion })

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

  test.each<[reason: string, title: string, bend: Bend]>([
    ['signature_wrong', 'signed by another client', { by: foreign }],
    ['signature_wrong', 'of another client by its own key', { claims: { iss: 'broker', sub: 'broker' } }],
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
    ['key_unknown', 'by another algorithm', { header: { alg: 'RS256' }, by: rsa }],
    ['key_unknown', 'that names no key, where the client has two', { header: { kid: undefined } }],
    ['signature_wrong', 'that brings its own key', { header: { jwk: foreign.jwk }, by: foreign }],
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

  test('is refused with the same description if it is unknown or without keys [client-30]', async () => {
    const set = host(stage)
    for (const [id, reason] of [
      ['nobody', 'client_unknown'],
      ['__proto__', 'client_unknown'],
      ['nightly-report', 'client_not_authenticated'],
    ] as const)
      for (const header of [{}, { alg: 'EdDSA', kid: undefined }]) {
        const response = await ask(set, assertionAt(set, { header, claims: { iss: id, sub: id } }))
        expect(refusalOf(response)).toBe('401 invalid_client')
        expect(response.body.error_description).toBe('Client authentication failed.')
        expect(set.failures.at(-1)?.reason).toBe(reason)
      }
  })

  test('uses an assertion once at two servers of one issuer, never again, and once more at another issuer [client-31]', async () => {
    const set = host(stage)
    const always = { store: set.store, clock: set.clock.read, storeDeadline: 10, clients }
    const serverOf = (issuerOfIt: string) =>
      application({ ...always, issuer: issuerOfIt, plugins: [privateKeyJwt()] })
    const twin = serverOf(issuer)
    const claims = { jti: 'one' }
    const assertion = assertionAt(set, { claims })
    const answers = [set, twin, set, twin].map(({ flow }) => ask({ ...set, flow }, assertion))
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401])
    const reasons = [...set.failures, ...twin.failures].map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(new Set(['client_assertion_replayed']))
    const other = { ...set, flow: serverOf('http://127.0.0.1').flow }
    tokensOf(await ask(other, assertionAt(set, { claims: { ...claims, aud: 'http://127.0.0.1' } })))
    for (const seconds of [0, 59, 29, 1, 1, 3600]) {
      set.clock.advance(seconds)
      expect(refusalOf(await ask(set, assertion))).toBe('401 invalid_client')
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
        plugins: [
          privateKeyJwt(),
          pushedAuthorizationRequests(),
          deviceAuthorization({ secret: deviceSecret }),
          dpop({ baseUrl: issuer, nonces: {} }),
        ],
      })
      const prover = new Prover(store.clock.read)
      const send = (client_assertion: string, path: string, fields: Fields, DPoP?: string) => {
        const shown = { client_assertion_type: assertionType, client_assertion, ...fields }
        return store.flow.submit(path, shown, undefined, DPoP === undefined ? {} : { DPoP })
      }
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
      const again = await send(assertion, path, fields, prover.proof('POST', path))
      expect(refusalOf(again)).toBe('401 invalid_client')
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
    const set = stage({
      clients,
      plugins: [privateKeyJwt(), { name: 'host-endpoints', endpoints: [early, late] }],
    })
    const assertions = [assertionAt(set), assertionAt(set)]
    const send = (path: string, at: number, fields: Fields = {}) => {
      const shown = { client_assertion_type: assertionType, client_assertion: assertions[at], ...fields }
      return set.flow.submit(path, shown)
    }
    const statuses = [await send('/own', 0), await send('/own', 0), await send('/late', 1)]
    const more = [await send('/late', 1, { good: 'yes' }), await send('/late', 1, { good: 'yes' })]
    expect([...statuses, ...more].map(({ status }) => status)).toEqual([200, 401, 400, 200, 401])
    expect(acts).toBe(2)
  })

  test('sends an invalid request with a part too few, too many or too long, or in the request URI', async () => {
    const set = host(stage)
    const typed = (client_assertion: string, more: Fields = {}) =>
      formOf({ client_assertion_type: assertionType, client_assertion, ...more })
    const bent = (claims: object) => typed(assertionAt(set, { claims }))
    for (const sent of [
      formOf({ client_assertion: assertionAt(set) }),
      typed(assertionAt(set), { client_assertion_type: 'saml2' }),
      bent({ more: 'x'.repeat(16_384) }),
      bent({ sub: 'x'.repeat(257) }),
      typed('x.y.z'),
      typed(assertionAt(set), { client_id: 'bank', client_secret: 'x' }),
      `${typed(assertionAt(set))}&client_assertion=x`,
      `client_assertion_type=${assertionType}&client_assertion=%zz`,
    ]) {
      const refused = refusalOf(await set.flow.submit('/token', `${formOf(grant)}&${sent}`))
      expect([sent, refused]).toEqual([sent, '400 invalid_request'])
    }
    const inQuery = await set.flow.submit(`/token?${typed(assertionAt(set))}`, grant)
    expect(refusalOf(inQuery)).toBe('400 invalid_request')
  })

  test('authenticates at a Passport instance of the host, too', async () => {
    const mount: Mount = (app, oauth) => {
      const passport = new Passport()
      for (const strategy of oauth.strategies) passport.use(strategy)
      const byKey = passport.authenticate('private_key_jwt', { session: false, failWithError: true })
      app.post('/token', byKey, oauth.token())
    }
    const set = stage({ clients, plugins: [privateKeyJwt()] }, { mount })
    const assertion = assertionAt(set)
    tokensOf(await ask(set, assertion))
    expect(refusalOf(await ask(set, assertion))).toBe('401 invalid_client')
    expect(refusalOf(await set.flow.request(nightlyReport, grant))).toBe('401 invalid_client')
  })
})

/** The client that publishes its keys asks. */
const come = (set: Host, bend: Bend = {}) =>
  ask(set, assertionAt(set, { claims: { iss: 'publisher', sub: 'publisher' }, ...bend }))

describeOnStores('A client that publishes its keys', (stage) => {
  const uri = publisher.credentials.private_key_jwt.jwks_uri

  /** What the client publishes, and how often the server asked. */
  function publication(...keys: Signer['jwk'][]) {
    const asked: string[] = []
    const state: { keys: readonly Signer['jwk'][] | undefined } = { keys }
    const documents: DocumentFetch = {
      async fetch(url) {
        asked.push(url)
        if (state.keys === undefined) throw new Error('The document is not available.')
        return { json: { keys: state.keys }, maximumAge: 60 }
      },
    }
    return { asked, state, documents }
  }

  test('authenticates by them, with one fetch for as long as the headers allow', async () => {
    const { asked, documents } = publication(own.jwk)
    const set = host(stage, { documents })
    await Promise.all([1, 2, 3].map(async () => tokensOf(await come(set))))
    set.clock.advance(59)
    tokensOf(await come(set))
    expect(asked).toEqual([uri])
    set.clock.advance(1)
    tokensOf(await come(set))
    expect(asked).toEqual([uri, uri])
  })

  test('may change them at once, but unknown keys make one fetch in 10 seconds', async () => {
    const { asked, state, documents } = publication(own.jwk)
    const set = host(stage, { documents })
    tokensOf(await come(set))
    state.keys = [second.jwk]
    const changed = () => come(set, { header: { kid: '2' }, by: second })
    expect(refusalOf(await changed())).toBe('401 invalid_client')
    set.clock.advance(10)
    tokensOf(await changed())
    for (let times = 0; times < 3; times++) {
      const response = await come(set, { header: { kid: `made up ${times}` } })
      expect(refusalOf(response)).toBe('401 invalid_client')
    }
    // Nor is another address asked that an assertion names.
    const header = { jku: 'https://evil.example/jwks.json', x5u: 'https://evil.example/chain.pem' }
    expect(refusalOf(await come(set, { header, by: foreign }))).toBe('401 invalid_client')
    expect(asked).toEqual([uri, uri])
  })

  test('is not asked for unknown keys by a network over its limit, and still proves itself there', async () => {
    const { asked, documents } = publication(own.jwk)
    const networks = { clients: { attempts: 3, seconds: 3600 } }
    const set = stage({
      clients,
      plugins: [privateKeyJwt({ documents })],
      limits: { networks },
    })
    tokensOf(await come(set))
    for (let times = 0; times < 4; times++) await set.flow.submit('/token', { client_id: 'nobody' })
    set.clock.advance(10)
    const unknown = await come(set, { header: { kid: '2' } })
    expect(unknown.status).toBe(429)
    tokensOf(await come(set))
    set.clock.advance(60)
    tokensOf(await come(set))
    expect(asked).toEqual([uri])
  })

  test('is asked to try again while they cannot be had, and keeps its assertion', async () => {
    const { state, documents } = publication()
    const set = host(stage, { documents })
    for (const keys of [undefined, []]) {
      state.keys = keys
      const expected = keys === undefined ? '400 temporarily_unavailable' : '401 invalid_client'
      expect(refusalOf(await come(set))).toBe(expected)
      set.clock.advance(10)
    }
    state.keys = undefined
    const claims = { iss: 'publisher', sub: 'publisher' }
    const assertion = assertionAt(set, { claims, times: { exp: 120 } })
    set.clock.advance(60)
    const response = await ask(set, assertion)
    expect(refusalOf(response)).toBe('400 temporarily_unavailable')
    expect(response.get('Retry-After')).toBe('1')
    expect(set.failures.at(-1)).toMatchObject({ reason: 'client_keys_unavailable' })
    state.keys = [own.jwk]
    set.clock.advance(10)
    tokensOf(await ask(set, assertion))
  })

  test('counts for no sender, and its keys stand in for an hour while others use up the limits of its host [document-8]', async () => {
    const seen: unknown[] = []
    const limited = fetchOf({ lookup: async () => [] }, { clock: new Clock().read })
    let isLimited = false
    const documents: DocumentFetch = {
      async fetch(url, size, inquiry) {
        seen.push(inquiry?.sender)
        if (isLimited) for (let times = 0; ; times++) await limited.fetch(url, size, inquiry).catch(orLimited)
        return { json: { keys: [own.jwk] }, maximumAge: 60 }
      },
    }
    const orLimited = (error: unknown) => {
      if (Object(error).reason === 'limited') throw error
    }
    const set = host(stage, { documents })
    tokensOf(await come(set))
    isLimited = true
    set.clock.advance(3599)
    tokensOf(await come(set))
    // The client may have changed its keys.
    const changed = await come(set, { header: { kid: '2' }, by: second })
    expect(refusalOf(changed)).toBe('400 temporarily_unavailable')
    set.clock.advance(1)
    expect(refusalOf(await come(set))).toBe('400 temporarily_unavailable')
    // The failure was that of others, so nobody waits for the next fetch.
    isLimited = false
    tokensOf(await come(set))
    expect(new Set(seen)).toEqual(new Set([undefined]))
  })

  test('that a document names count for the sender of each request', async () => {
    const jwks_uri = 'https://evil.example/keys'
    const id = 'https://notes.example/client.json'
    const members = { token_endpoint_auth_method: 'private_key_jwt', grant_types: ['client_credentials'] }
    const document = { client_id: id, client_name: 'Notes', redirect_uris: ['https://notes.example/cb'] }
    const seen: unknown[] = []
    const documents: DocumentFetch = {
      async fetch(url, _size, inquiry) {
        if (url === id)
          return { json: { ...document, ...members, response_types: [], jwks_uri }, maximumAge: 600 }
        seen.push(inquiry?.sender !== undefined)
        return { json: { keys: [own.jwk] }, maximumAge: 60 }
      },
    }
    const set = stage({
      clients: metadataDocuments({ documents, grantTypes: ['authorization_code', 'client_credentials'] }),
      plugins: [privateKeyJwt()],
    })
    for (const seconds of [0, 60]) {
      set.clock.advance(seconds)
      tokensOf(await come(set, { claims: { iss: id, sub: id } }))
    }
    expect(seen).toEqual([true, true])
  })

  test('may publish 32 keys, and no more', async () => {
    const { state, documents } = publication()
    const set = host(stage, { documents })
    for (const [count, status] of [
      [33, 400],
      [32, 200],
    ] as const) {
      state.keys = [
        ...Array.from({ length: count - 1 }, (_, at) => ({ ...second.jwk, kid: `other ${at}` })),
        own.jwk,
      ]
      expect((await come(set)).status).toBe(status)
      set.clock.advance(10)
    }
  })
})

test('2000 sets of keys stay in memory, and the next one pushes out the one that was used longest ago', async () => {
  const asked: string[] = []
  // A failure counts for 10 seconds: only a set that is forgotten is fetched again.
  const documents: DocumentFetch = {
    fetch: async (url) => Promise.reject(new Error(String(asked.push(url)))),
  }
  const [method] = privateKeyJwt({ documents }).clientAuthenticationMethods
  const counters = { add: async () => ({ count: 1, secondsLeft: 1 }), useOnce: async () => true }
  const clock = new Clock()
  const server = { issuer, tokenEndpoint, counters, documents, now: () => Math.floor(clock.read() / 1000) }
  const sender = { url: tokenEndpoint, address: undefined, networkRefusal: undefined, useLast: () => {} }
  const assertion = assertionAt({ ...application(), clock })
  const comes = async (at: number) => {
    const credentials = { private_key_jwt: { jwks_uri: `https://a.example/${at}` } }
    const client = parseStoredClient({ ...bank, credentials }, { ...anyCapabilities, members: [] })
    await expect(method?.verify(client, assertion, async () => true, server, sender)).rejects.toMatchObject({
      reason: 'client_keys_unavailable',
    })
  }
  for (let at = 0; at < 2000; at++) await comes(at)
  await comes(0)
  expect(asked).toHaveLength(2000)
  await comes(2000)
  await comes(0)
  await comes(1)
  expect(asked.slice(2000)).toEqual(['https://a.example/2000', 'https://a.example/1'])
})

describe('A JWK set of a client over https', () => {
  const jwks = JSON.stringify({ keys: [own.jwk] })
  const unavailable = '400 temporarily_unavailable'

  test.each([
    ['of 64 KiB is taken', `${' '.repeat(64 * 1024 - jwks.length)}${jwks}`, 'tokens'],
    [
      'of a byte more is a reason to try again',
      `${' '.repeat(64 * 1024 - jwks.length + 1)}${jwks}`,
      unavailable,
    ],
    ['that is none is a reason to try again, and none to refuse the client', '[]', unavailable],
  ])('%s', async (_what, text, outcome) => {
    const origin = await httpsOrigin(authority.issue(['127.0.0.1']), (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/jwk-set+json' }).end(text)
    })
    const jwks_uri = `https://127.0.0.1:${origin.port}/jwks.json`
    const { flow, failures } = application({
      clients: [{ ...publisher, credentials: { private_key_jwt: { jwks_uri } } }],
      plugins: [privateKeyJwt({ documents: fetchOf({ ca: authority.ca }) })],
    })
    const answer = await come({ flow, failures, clock: new Clock() })
    await origin.close()
    expect(outcomeOf(answer)).toBe(outcome)
    expect(failures.map(({ reason }) => reason)).toEqual(
      outcome === 'tokens' ? [] : ['client_keys_unavailable'],
    )
  })
})

test('A registration may have 12 public keys or the URL of its keys, and not both', () => {
  const refusedWith = (private_key_jwt: unknown) =>
    refusedOptions({
      clients: [{ ...bank, credentials: { private_key_jwt } }],
      plugins: [privateKeyJwt()],
    })
  const keysOf = (count: number) => ({
    keys: Array.from({ length: count }, (_, at) => ({ ...own.jwk, kid: `${at}` })),
  })
  for (const right of [{ keys: [rsa.jwk] }, keysOf(12)]) expect(refusedWith(right)).toEqual([])
  for (const wrong of [
    { keys: [own.privateKey.export({ format: 'jwk' })] },
    keysOf(0),
    keysOf(13),
    own.jwk,
    { keys: [own.jwk], jwks_uri: 'https://bank.example/jwks.json' },
    { jwks_uri: 'http://bank.example/jwks.json' },
    { jwks_uri: 'https://a:b@bank.example/jwks.json' },
    { jwks_uri: 7 },
  ])
    expect([wrong, refusedWith(wrong)]).toEqual([wrong, ['clients[0].credentials.private_key_jwt']])
})

test('privateKeyJwt() names every mistake in its options', () => {
  const times = { clockTolerance: 301, maximumLifetime: 0, tokenEndpointAudience: 'yes' }
  const wrong = { algorithms: ['none'], ...times, documents: {}, audience: 'x', issuers: 'x' }
  const guard: Maker = { make: privateKeyJwt }
  const pathsOf = (options: object) => mistakesOf(guard, options).map(({ path }) => path)
  expect(new Set(pathsOf(wrong))).toEqual(new Set(Object.keys(wrong)))
  expect(pathsOf({ algorithms: [] })).toEqual(['algorithms'])
})
