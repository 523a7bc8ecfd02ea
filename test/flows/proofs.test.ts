import { once } from 'node:events'
import { createServer } from 'node:https'
import request from 'supertest'
import {
  type ClientRequest,
  type Extension,
  implicit,
  invalidGrant,
  OAuthError,
  type TokenType,
} from 'express-authorization-server'
import { createBearerGuard } from 'express-authorization-server/guards'
import { otherCertificate, ownCertificate } from '../support/flows/certificates'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, basic, redemption } from '../support/flows/flow'
import { fragmentOf } from '../support/flows/redirection'
import { describeOnStores, type Stage } from '../support/flows/stores-of-run'
import { refusalOf } from '../support/flows/tokens'

const report = bent(nightlyReport, { may_introspect: true })
const clients = [photoBook, photoPrint, report].map(({ registration }) => registration)
const { client_id: publicId } = photoBook.registration

/** A host's own: a key that a client names in a header. A real proof signs the request. */
const keyIn = ({ headers }: Pick<ClientRequest, 'headers'>): string | undefined => headers['key']?.[0]

/** A token is bound to the key of its request, and so is the refresh token of a public client. */
const keys: Extension = {
  name: 'keys',
  exposedHeaders: ['Key-Nonce'],
  async prepare(asked) {
    const key = keyIn(asked)
    if (key === 'stale')
      throw new OAuthError('use_fresh_key', 'key_stale', 'Use a fresh key.', {
        headers: { 'Key-Nonce': 'n-1' },
      })
    return key
  },
  issue({ evidence, authorizationData, client }) {
    if (authorizationData !== undefined && evidence !== authorizationData)
      throw invalidGrant('key_missing', 'The refresh token belongs to another key.')
    if (typeof evidence !== 'string') return undefined
    const isPublic = client.client_type === 'public'
    return {
      tokenType: 'Keyed',
      tokenData: evidence,
      ...(isPublic ? { authorizationData: evidence } : {}),
    }
  },
  respond: async ({ evidence, isRepetition, accessToken, tokenData, subject, grantType }) => ({
    members: { key_echo: { evidence: String(evidence), isRepetition, tokenData: tokenData ?? null } },
    headers: { 'Key-Nonce': `n-2 ${grantType} ${String(subject)} ${accessToken.slice(0, 3)}` },
  }),
  describe: ({ tokenData }) => (tokenData === undefined ? undefined : { cnf: { key: tokenData } }),
}

const keyed: TokenType = {
  name: 'Keyed',
  scheme: 'Keyed',
  exposedHeaders: ['Key-Hint', 'key-nonce'],
  issue: (_token, { evidence }) => ({ properties: {}, tokenData: String(evidence.get('keys')) }),
  challenge: () => ({ algs: 'none' }),
  read: (accessToken) => ({
    accessToken,
    async rejectReason({ request: asked, tokenData, setHeader }) {
      setHeader('Key-Hint', 'fresh')
      const key = keyIn(asked)
      if (key === 'stale')
        throw new OAuthError('use_fresh_key', 'key_stale', 'Use a fresh key.', {
          status: 401,
          headers: { 'Key-Nonce': 'n-3' },
          challenge: { hint: 'fresh' },
        })
      return key === tokenData ? undefined : 'key_wrong'
    },
  }),
}

/** Each extension looks at requests, and tells what it saw. */
function spy(name = 'spy', found?: unknown) {
  const seen: ClientRequest[] = []
  const extension: Extension = {
    name,
    async prepare(asked) {
      seen.push(asked)
      return found
    },
  }
  return { extension, seen }
}

describeOnStores('A proof of a client', (stage) => {
  const set = () => stage({ clients, plugins: [keys, { name: 'host-token-types', tokenTypes: [keyed] }] })
  const send = ({ flow }: Stage, fields: Readonly<Record<string, string | undefined>>, Key?: string) =>
    flow.submit('/token', { client_id: publicId, ...fields }, undefined, Key === undefined ? {} : { Key })
  const redeem = async (staged: Stage, key?: string) =>
    send(staged, redemption(photoBook, await staged.flow.approve(photoBook)), key)
  const refresh = (staged: Stage, refresh_token: string, key?: string) =>
    send(staged, { grant_type: 'refresh_token', refresh_token }, key)
  const call = ({ flow }: Stage, token: string, key: string, scheme = 'Keyed') =>
    flow.open('/photos', undefined, { Authorization: `${scheme} ${token}`, Key: key })

  test('chooses the token type of this token alone, and the guard demands the proof', async () => {
    const staged = set()
    const { body } = await redeem(staged, 'k-1')
    expect(body.token_type).toBe('Keyed')
    expect((await call(staged, body.access_token, 'k-1')).body).toMatchObject({ tokenType: 'Keyed' })
    expect((await call(staged, body.access_token, 'k-2')).status).toBe(401)
    expect((await call(staged, body.access_token, 'k-1', 'Bearer')).status).toBe(401)
    const introspected = await staged.flow.introspect(report, body.access_token)
    expect(introspected.body).toMatchObject({ token_type: 'Keyed', cnf: { key: 'k-1' } })
    const plain = await redeem(staged)
    expect(plain.body.token_type).toBe('bearer')
    expect((await staged.flow.photos(plain.body.access_token)).status).toBe(200)
  })

  test('binds an unbound refresh token at its first refresh, and a repetition changes nothing', async () => {
    const staged = set()
    const { body } = await redeem(staged)
    const first = await refresh(staged, body.refresh_token, 'k-1')
    expect(refusalOf(await refresh(staged, body.refresh_token, 'k-2'))).toBe('400 invalid_grant')
    expect((await refresh(staged, body.refresh_token, 'k-1')).body.access_token).toBe(first.body.access_token)
    const plain = await redeem(staged)
    const unbound = await refresh(staged, plain.body.refresh_token)
    const beside = await refresh(staged, plain.body.refresh_token, 'k-1')
    expect(beside.body).toMatchObject({ token_type: 'Keyed', refresh_token: unbound.body.refresh_token })
    expect(beside.body.access_token).not.toBe(unbound.body.access_token)
    // The repetition bound nothing: whoever has the new refresh token may still use it without a key.
    expect((await refresh(staged, unbound.body.refresh_token)).status).toBe(200)
  })

  test('adds members and headers to the answer, and says whether it repeats', async () => {
    const staged = set()
    const answer = await redeem(staged, 'k-1')
    expect(answer.body.key_echo).toEqual({ evidence: 'k-1', isRepetition: false, tokenData: 'k-1' })
    expect(answer.headers).toMatchObject({
      'key-nonce': 'n-2 authorization_code alice at_',
      'cache-control': 'no-store',
    })
    const first = await refresh(staged, answer.body.refresh_token, 'k-1')
    const again = await refresh(staged, answer.body.refresh_token, 'k-1')
    expect([first.body.key_echo.isRepetition, again.body.key_echo.isRepetition]).toEqual([false, true])
  })

  test('refuses with headers, at the endpoint and at the guard, and spends nothing', async () => {
    const staged = set()
    const code = await staged.flow.approve(photoBook)
    const stale = await send(staged, redemption(photoBook, code), 'stale')
    expect([stale.status, stale.body.error, stale.headers['key-nonce']]).toEqual([
      400,
      'use_fresh_key',
      'n-1',
    ])
    const { body } = await send(staged, redemption(photoBook, code), 'k-1')
    const refused = await call(staged, body.access_token, 'stale')
    expect([refused.status, refused.body.error]).toEqual([401, 'use_fresh_key'])
    expect(refused.headers).toMatchObject({ 'key-nonce': 'n-3', 'key-hint': 'fresh' })
    expect(refused.headers['www-authenticate']).toContain(
      'Keyed realm="oauth", error="use_fresh_key", error_description="Use a fresh key.", algs="none", hint="fresh"',
    )
    const passed = await call(staged, body.access_token, 'k-1')
    expect([passed.status, passed.headers['key-hint']]).toEqual([200, 'fresh'])
    const wrong = await call(staged, body.access_token, 'k-2')
    expect([wrong.status, wrong.headers['key-hint']]).toEqual([401, 'fresh'])
  })

  test('adds attributes to the challenge of its own scheme only', async () => {
    const { headers } = await set().flow.open('/photos')
    expect(headers['www-authenticate']).toBe(
      'Bearer realm="oauth", scope="photos:read", Keyed realm="oauth", scope="photos:read", algs="none"',
    )
  })

  test('exposes its headers to scripts of other origins, at endpoints and at guards', async () => {
    const { app, flow, store, clock } = set()
    const exposed = 'WWW-Authenticate, Retry-After, X-Request-Id, Key-Nonce, Key-Hint'
    const atToken = await flow.submit('/token', {}, undefined, { Origin: 'https://app.example' })
    expect(atToken.headers['access-control-expose-headers']).toBe(exposed)
    const guard = createBearerGuard({
      issuer: 'http://localhost',
      store,
      clock: clock.read,
      plugins: [keys, { name: 'host-token-types', tokenTypes: [keyed] }],
      guards: { cors: true },
    })
    app.use('/elsewhere', guard('photos:read'))
    const atGuard = await flow.open('/elsewhere', undefined, { Origin: 'https://app.example' })
    expect(atGuard.headers['access-control-expose-headers']).toBe(exposed)
  })
})

describeOnStores('prepare', (stage) => {
  test('sees each request of a client after authentication, at every endpoint that clients call', async () => {
    const { extension, seen } = spy()
    const whoami = {
      name: 'whoami',
      path: '/whoami',
      method: 'GET',
      handle: async () => ({ members: {} }),
    } as const
    const anyone = {
      name: 'anyone',
      path: '/anyone',
      clientAuthentication: 'optional',
      handle: whoami.handle,
    } as const
    const nobody = {
      name: 'nobody',
      path: '/nobody',
      clientAuthentication: 'none',
      handle: whoami.handle,
    } as const
    const { flow, app } = stage({
      clients,
      plugins: [extension, { name: 'host-endpoints', endpoints: [whoami, anyone, nobody] }],
    })
    const { client_id } = report.registration
    const Authorization = basic(client_id, report.secret ?? '')
    await flow.request(report, { grant_type: 'client_credentials', scope: 'photos:read' })
    await flow.revoke(report, 'x')
    await flow.introspect(report, 'x')
    await request(app).get('/whoami?a=1').set({ Authorization })
    await flow.request(report, {}, '/anyone')
    await flow.submit('/anyone', {})
    await flow.submit('/nobody', {})
    await flow.submit('/token', { grant_type: 'client_credentials' }, undefined, {
      Authorization: basic(client_id, 'wrong'),
    })
    expect(seen.map(({ endpoint, method, target }) => [endpoint, method, target])).toEqual([
      ['token', 'POST', '/token'],
      ['revocation', 'POST', '/revoke'],
      ['introspection', 'POST', '/introspect'],
      ['whoami', 'GET', '/whoami?a=1'],
      ['anyone', 'POST', '/anyone'],
    ])
    for (const { client, secure, certificate } of seen)
      expect([client.client_id, secure, certificate]).toEqual([client_id, false, undefined])
    expect(seen[0]?.parameters.get('scope')).toBe('photos:read')
    expect(seen[0]?.headers['authorization']).toEqual([Authorization])
  })

  test("each extension gets its own finding, and a host's endpoint gets all of them", async () => {
    const evidence: unknown[] = []
    const asking = (name: string): Extension => ({
      ...spy(name, `of ${name}`).extension,
      issue(asked) {
        evidence.push(asked.evidence)
        return undefined
      },
    })
    const names = ['one', '__proto__', 'constructor']
    const found = {
      name: 'found',
      path: '/found',
      handle: async (asked: { readonly evidence: ReadonlyMap<string, unknown> }) => ({
        members: { found: [...asked.evidence] },
      }),
    }
    const { flow } = stage({
      clients,
      plugins: [
        ...names.map(asking),
        { ...asking('none'), prepare: async () => undefined },
        { name: 'host-endpoints', endpoints: [found] },
      ],
    })
    await flow.request(report, { grant_type: 'client_credentials', scope: 'photos:read' })
    expect(evidence).toEqual([...names.map((name) => `of ${name}`), undefined])
    const { body } = await flow.request(report, {}, '/found')
    expect(body.found).toEqual(names.map((name) => [name, `of ${name}`]))
  })

  test('that fails fails the request, before anything is spent', async () => {
    let isBroken = true
    const broken: Extension = {
      name: 'broken',
      prepare: async () => {
        if (isBroken) throw new Error('No.')
      },
    }
    const { flow } = stage({ clients, plugins: [broken] })
    const code = await flow.approve(photoPrint)
    expect(refusalOf(await flow.redeem(photoPrint, code))).toBe('500 server_error')
    isBroken = false
    expect((await flow.redeem(photoPrint, code)).status).toBe(200)
  })
})

describeOnStores('An addition to the token response', (stage) => {
  const adding = (name: string, addition: unknown): Extension => {
    const extension = { name, respond: jest.fn() }
    extension.respond.mockResolvedValue(addition)
    return extension
  }
  const fields = { grant_type: 'client_credentials', scope: 'photos:read' }

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['a member that the server sets', { members: { access_token: 'mine' } }],
    ['a refresh token', { members: { refresh_token: 'mine' } }],
    ['a member that another extension set', { members: { first: 'mine' } }],
    ['a member that is no JSON', { members: { at: new Date() } }],
    ['a header that lets caches keep the token', { headers: { 'Cache-Control': 'public' } }],
    ['a header with a line break', { headers: { Nonce: 'a\r\nSet-Cookie: b' } }],
    ['a header that is no text', { headers: { Nonce: 7 } }],
    ['an unknown name', { status: 201 }],
  ])('of %s is a mistake, and the token stays unborn', async (_what, addition) => {
    const extensions = [adding('good', { members: { first: 'one' } }), adding('bad', addition)]
    const { flow, store } = stage({ clients, plugins: [...extensions] })
    expect(refusalOf(await flow.request(report, fields))).toBe('500 server_error')
    expect(store.calls.write).toBe(0)
  })

  test('may refuse, and then spends no code', async () => {
    let isRefusing = true
    const refusing: Extension = {
      name: 'refusing',
      respond: async () => {
        if (isRefusing) throw invalidGrant('too_early', 'Not yet.')
        return undefined
      },
    }
    const { flow } = stage({ clients, plugins: [refusing] })
    const code = await flow.approve(photoPrint)
    expect(refusalOf(await flow.redeem(photoPrint, code))).toBe('400 invalid_grant')
    isRefusing = false
    expect((await flow.redeem(photoPrint, code)).status).toBe(200)
  })

  test('joins others, and a token of the authorization endpoint gets the members', async () => {
    const page = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
    const extensions = [
      adding('one', { members: { number: 7 }, headers: { Nonce: 'a' } }),
      adding('two', { members: { text: 'x' } }),
      adding('idle', undefined),
    ]
    const { flow } = stage({
      clients: [page.registration, report.registration],
      plugins: [implicit(), ...extensions],
    })
    const answer = await flow.request(report, fields)
    expect(answer.body).toMatchObject({ number: 7, text: 'x', token_type: 'bearer' })
    expect(answer.headers['nonce']).toBe('a')
    const asked = { ...authorizationRequest(page), response_type: 'token' }
    const sent = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    expect(fragmentOf(sent).parameters).toMatchObject({ number: '7', text: 'x', token_type: 'bearer' })
    expect(sent.headers).not.toHaveProperty('nonce')
  })

  test('of JSON is a mistake at the authorization endpoint', async () => {
    const page = bent(photoBook, { grant_types: ['implicit'], response_types: ['token'] })
    const { flow } = stage({
      clients: [page.registration],
      plugins: [implicit(), adding('one', { members: { list: ['x'] } })],
    })
    const asked = { ...authorizationRequest(page), response_type: 'token' }
    const sent = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
    expect(fragmentOf(sent).parameters).toMatchObject({ error: 'server_error' })
  })
})

describeOnStores('A certificate of a client', (stage) => {
  /** Binds tokens to the certificate of the connection (RFC 8705 3). */
  const bound: Extension = {
    name: 'x5t',
    prepare: async ({ certificate }) => certificate?.x509.fingerprint256,
    issue: ({ evidence }) => (typeof evidence === 'string' ? { tokenData: evidence } : undefined),
    admit: ({ request: { certificate }, tokenData }) =>
      tokenData === undefined || certificate?.x509.fingerprint256 === tokenData ? undefined : 'x5t_wrong',
  }

  test('is on a request at an endpoint, and on one at a guard', async () => {
    const { app } = stage({ clients, plugins: [bound] })
    const server = createServer(
      { ...otherCertificate, ca: [], requestCert: true, rejectUnauthorized: false },
      app,
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    try {
      const Authorization = basic(report.registration.client_id, report.secret ?? '')
      const sent = request(server)
        .post('/token')
        .disableTLSCerts()
        .key(ownCertificate.key)
        .cert(ownCertificate.cert)
        .set({ Authorization })
      const form = 'grant_type=client_credentials&scope=photos:read'
      const { body } = await sent.type('form').send(form)
      const call = (certificate?: typeof ownCertificate) => {
        const asked = request(server)
          .get('/photos')
          .disableTLSCerts()
          .set({ Authorization: `Bearer ${body.access_token}` })
        return certificate === undefined ? asked : asked.key(certificate.key).cert(certificate.cert)
      }
      const statuses = [await call(ownCertificate), await call(otherCertificate), await call()]
      expect(statuses.map(({ status }) => status)).toEqual([200, 401, 401])
    } finally {
      server.close()
    }
  })
})
