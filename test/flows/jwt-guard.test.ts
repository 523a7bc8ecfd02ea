import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { accessClaims, accessJwt, photoServer } from '../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { hub, hubOnCurve, partner } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'

const bad = 'The access token is unknown, expired or revoked.'

describe('A guard for JWTs', () => {
  test.each(['ES256', 'EdDSA', 'PS512'])('lets in what its issuer signed with %s', async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg)
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k' }
    const { ask, now } = guardedPhotos({ keys: { keys: [jwk] } })
    const token = await new SignJWT({ client_id: 'photo-book', scope: 'photos:read photos:print' })
      .setProtectedHeader({ alg, typ: 'at+jwt', kid: 'k' })
      .setIssuer(hub.issuer)
      .setSubject('alice')
      .setAudience(photoServer)
      .setIssuedAt(now())
      .setExpirationTime(now() + 60)
      .sign(privateKey)
    for (let round = 1; round <= 2; round++) {
      const { status, body } = await ask(token)
      expect(status).toBe(200)
      expect(body).toMatchObject({
        clientId: 'photo-book',
        subject: 'alice',
        scope: ['photos:read', 'photos:print'],
        tokenType: 'bearer',
        expiresAt: now() + 60,
        claims: { iss: hub.issuer, aud: photoServer, sub: 'alice' },
      })
    }
  })

  test('refuses with the challenge of every guard, and gives the reason in an event alone', async () => {
    const { ask, token, now, failures } = guardedPhotos({ errorUri: 'https://photos.example/errors' })
    const response = await ask(token({ exp: now() - 60 }))
    expect(response.status).toBe(401)
    expect(response.get('WWW-Authenticate')).toBe(
      `Bearer realm="oauth", scope="photos:read", error="invalid_token", error_description="${bad}", ` +
        'error_uri="https://photos.example/errors#invalid_token"',
    )
    expect(response.get('Cache-Control')).toBe('no-store')
    expect(failures).toEqual([
      expect.objectContaining({
        endpoint: 'protected resource',
        code: 'invalid_token',
        reason: 'jwt_expired',
        requestId: response.get('X-Request-Id'),
        clientId: undefined,
      }),
    ])
  })

  test('hands out what no route can change for the next one [access-17]', async () => {
    const { app, guard, ask, token } = guardedPhotos()
    const shared = token({ groups: [{ name: 'staff' }] })
    const thrown: unknown[] = []
    app.get('/bend', guard(), (request, response) => {
      const access = Object(request.oauth)
      for (const change of [
        () => (access.subject = 'mallory'),
        () => access.scope.push('admin'),
        () => access.claims.groups[0].name++,
      ])
        try {
          change()
        } catch (error) {
          thrown.push(error)
        }
      response.end()
    })
    await ask(shared, '/bend')
    expect(thrown).toEqual([expect.any(TypeError), expect.any(TypeError), expect.any(TypeError)])
    expect((await ask(shared)).body).toMatchObject({
      subject: 'alice',
      scope: ['photos:read'],
      claims: { groups: [{ name: 'staff' }] },
    })
  })
})

describe('A guard for the JWTs of an older issuer', () => {
  const older = { type: 'JWT' } as const

  test.each([
    ['of the type JWT', {}, { typ: 'JWT' }],
    ['without a type', {}, { typ: undefined }],
    ['of the type at+jwt all the same', {}, {}],
    ['that names its client in azp', { client_id: undefined, azp: 'photo-book' }, { typ: 'JWT' }],
    ['that lists its scope', { scope: ['photos:read', 'profile'] }, { typ: 'JWT' }],
  ])('takes one %s', async (_, claims, header) => {
    const { ask, now } = guardedPhotos(older)
    const { status, body } = await ask(accessJwt(accessClaims(now(), claims), hub, header))
    expect(status).toBe(200)
    expect(body).toMatchObject({ clientId: 'photo-book', subject: 'alice' })
  })

  test.each([
    ['an ID token', { at_hash: 'x' }, { typ: 'JWT' }, 'jwt_of_another_kind'],
    ['a logout token', {}, { typ: 'logout+jwt' }, 'jwt_header_refused'],
    ['one that names no client', { client_id: undefined }, { typ: 'JWT' }, 'jwt_incomplete'],
    ['one that lists two scopes as one', { scope: ['photos:read admin'] }, {}, 'jwt_incomplete'],
    ['one whose scope is an empty list', { scope: [] }, {}, undefined],
    ['one whose list of scopes holds a number', { scope: [7] }, { typ: 'JWT' }, 'jwt_incomplete'],
  ])('knows %s', async (_, claims, header, reason) => {
    const { ask, now, failures } = guardedPhotos(older)
    await ask(accessJwt(accessClaims(now(), claims), hub, header), '/any')
    expect(failures.map((failure) => failure.reason)).toEqual(reason === undefined ? [] : [reason])
  })

  test('reads client and scope where the issuer writes them', async () => {
    const { ask, token } = guardedPhotos({ clientIdClaim: 'cid', scopeClaim: 'scp', ...older })
    const claims = { client_id: 'mallory', scope: 'admin', cid: 'photo-book', scp: ['photos:read'] }
    expect((await ask(token(claims))).body).toMatchObject({ clientId: 'photo-book', scope: ['photos:read'] })
    expect((await ask(token({ cid: undefined }))).status).toBe(401)
  })
})

describe('A guard for JWTs by published keys', () => {
  const server = new KeyServer()
  beforeAll(() => server.start())
  afterAll(() => server.stop())
  beforeEach(() => {
    server.requests = 0
    server.publish(hub.jwk)
  })

  test('fetches them once, before the first request if it is asked whether it is ready', async () => {
    const { guard, ask, token } = guardedPhotos({ jwksUri: server.uri })
    expect(await guard.ready()).toBe(true)
    expect(server.requests).toBe(1)
    expect((await ask(token())).status).toBe(200)
    expect(server.requests).toBe(1)
  })

  test('no longer takes a remembered token when its key is withdrawn and the set was fetched again [access-9]', async () => {
    const { ask, token, clock, failures } = guardedPhotos({ jwksUri: server.uri, maximumAge: 86_400 })
    const lost = token()
    expect((await ask(lost)).status).toBe(200)
    server.publish(hubOnCurve.jwk)
    clock.advance(10)
    expect((await ask(accessJwt(accessClaims(0), hubOnCurve))).status).toBe(401)
    expect(server.requests).toBe(2)
    expect((await ask(lost)).status).toBe(401)
    expect(failures.map(({ reason }) => reason)).toEqual(['jwt_expired', 'jwt_key_unknown'])
  })

  test('asks for them again after ten minutes, for remembered tokens too [access-10]', async () => {
    const { ask, token, clock } = guardedPhotos({ jwksUri: server.uri, maximumAge: 86_400 })
    const remembered = token({ exp: 4e9 })
    expect((await ask(remembered)).status).toBe(200)
    clock.advance(599)
    expect((await ask(remembered)).status).toBe(200)
    expect(server.requests).toBe(1)
    clock.advance(1)
    expect((await ask(remembered)).status).toBe(200)
    expect(server.requests).toBe(2)
    server.publish(hubOnCurve.jwk)
    clock.advance(600)
    expect((await ask(remembered)).status).toBe(401)
  })

  test('answers 503 about a key that is new until a fetch after the token has ended, and 401 then', async () => {
    server.publish(hub.jwk)
    const { ask, clock, now, failures, token } = guardedPhotos({ jwksUri: server.uri })
    expect((await ask(token())).status).toBe(200)
    clock.advance(3)
    const strange = (kid: string) => accessJwt(accessClaims(now()), partner, { kid })
    const [fresh, dead] = [accessJwt(accessClaims(now()), hubOnCurve), strange('retired')]
    for (const text of [fresh, dead, fresh]) {
      const answer = await ask(text)
      expect([answer.status, answer.get('Retry-After'), answer.get('WWW-Authenticate')]).toEqual([
        503,
        '7',
        undefined,
      ])
    }
    server.publish(hub.jwk, hubOnCurve.jwk)
    clock.advance(6)
    expect((await ask(fresh)).status).toBe(503)
    expect(server.requests).toBe(1)
    // Another one's unknown key causes the fetch, in front of a crowd of them.
    clock.advance(1)
    const first = await ask(strange('first'))
    const crowd = await Promise.all(Array.from({ length: 300 }, (_, index) => ask(strange(`${index}`))))
    expect([first, ...crowd].map(({ status }) => status)).toEqual([401, ...crowd.map(() => 503)])
    expect([(await ask(fresh)).status, (await ask(dead)).status]).toEqual([200, 401])
    expect(server.requests).toBe(2)
    expect(new Set(failures.map(({ reason }) => reason))).toEqual(
      new Set(['jwt_keys_unavailable', 'jwt_key_unknown']),
    )
    // What was unknown to a fetch stays so, also right after the next one.
    clock.advance(10)
    expect([(await ask(dead)).status, (await ask(strange('first'))).status]).toEqual([401, 401])
  })

  test('answers 503 while they cannot be had, and not that the token is bad', async () => {
    server.say((_request, response) => void response.writeHead(500).end())
    const { guard, ask, token, failures } = guardedPhotos({ jwksUri: server.uri })
    expect(await guard.ready()).toBe(false)
    const response = await ask(token())
    expect(response.status).toBe(503)
    expect(response.get('Retry-After')).toBe('1')
    expect(response.headers).not.toHaveProperty('www-authenticate')
    expect(failures).toMatchObject([{ reason: 'jwt_keys_unavailable', cause: expect.any(Error) }])
  })
})

test('A closed guard for JWTs turns new requests away, and is not ready', async () => {
  const { guard, ask, token } = guardedPhotos()
  const good = token()
  expect((await ask(good)).status).toBe(200)
  expect(await guard.ready()).toBe(true)
  expect(guard.close()).toBe(guard.close())
  await guard.close()
  expect(await guard.ready()).toBe(false)
  const response = await ask(good)
  expect([response.status, response.get('Connection')]).toEqual([503, 'close'])
})
