import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import express from 'express'
import { accessClaims, accessJwt, photoServer } from '../support/jwt-guard/access-tokens'
import { guardedPhotos } from '../support/jwt-guard/guarded-photos'
import { hub, hubOnCurve, partner, encoded, jws, type Signer } from '../support/assertions/jwt'
import { KeyServer } from '../support/assertions/key-server'
import { Flow } from '../support/flows/flow'
import { waitUntil } from '../support/wait-until'

const bad = 'The access token is unknown, expired or revoked.'

describe('A guard for JWTs', () => {
  test.each(['ES256', 'EdDSA', 'PS512'])('lets in what its issuer signed with %s', async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg)
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k' }
    const { ask, now } = guardedPhotos({ jwks: { keys: [jwk] } })
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
    const { ask, token, now, failures } = guardedPhotos({}, { errorUri: 'https://photos.example/errors' })
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
        reason: 'token_expired',
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
    const claims = { groups: [{ name: 'staff' }] }
    expect((await ask(shared)).body).toMatchObject({ subject: 'alice', scope: ['photos:read'], claims })
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
    ['an ID token', { at_hash: 'x' }, { typ: 'JWT' }, 'token_of_another_kind'],
    ['a logout token', {}, { typ: 'logout+jwt' }, 'jwt_header_refused'],
    ['one that names no client', { client_id: undefined }, { typ: 'JWT' }, 'token_incomplete'],
    ['one that lists two scopes as one', { scope: ['photos:read admin'] }, {}, 'token_incomplete'],
    ['one whose scope is an empty list', { scope: [] }, {}, undefined],
    ['one whose list of scopes holds a number', { scope: [7] }, { typ: 'JWT' }, 'token_incomplete'],
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

describe('A guard for the JWTs of several issuers', () => {
  const otherIssuers = [{ issuer: partner.issuer, jwks: { keys: [partner.jwk] } }]

  test('takes what each issuer signed with its own keys, and says which one it was', async () => {
    const { ask, now, failures } = guardedPhotos({ otherIssuers })
    const of = (iss: string, by: Signer) => accessJwt(accessClaims(now(), { iss }), by)
    for (const by of [hub, partner]) {
      const { body } = await ask(of(by.issuer, by))
      expect([body.subject, body.claims.iss]).toEqual(['alice', by.issuer])
    }
    for (const token of [of(hub.issuer, partner), of(partner.issuer, hub), of('https://nobody.example', hub)])
      expect((await ask(token)).status).toBe(401)
    expect(failures.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^jwt_(key_unknown|signature_wrong)$/),
      expect.stringMatching(/^jwt_(key_unknown|signature_wrong)$/),
      'token_issuer_unknown',
    ])
  })
})

// As Amazon Cognito writes them: no aud and no typ.
test('A guard takes a token without aud by audienceRequired: false alone, and one for others never', async () => {
  const written = { aud: undefined, token_use: 'access' }
  const lenient = { type: 'JWT', audienceRequired: false } as const
  for (const [options, claims, reason] of [
    [lenient, written, undefined],
    [{ type: 'JWT' }, written, 'token_resource'],
    [lenient, { ...written, aud: 'https://mail.example' }, 'token_resource'],
    [lenient, { ...written, token_use: 'id' }, 'token_of_another_kind'],
  ] as const) {
    const { ask, now, failures } = guardedPhotos(options)
    await ask(accessJwt(accessClaims(now(), claims), hub, { typ: undefined }))
    expect([claims, failures[0]?.reason]).toEqual([claims, reason])
  }
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
    const { guard, ask, token } = guardedPhotos({ jwks_uri: server.uri })
    expect(await guard.ready()).toBe(true)
    expect(server.requests).toBe(1)
    expect((await ask(token())).status).toBe(200)
    expect(server.requests).toBe(1)
  })

  test('no longer takes a remembered token when its key is withdrawn and the set was fetched again [access-9]', async () => {
    const { ask, token, clock, failures } = guardedPhotos({ jwks_uri: server.uri, maximumAge: 86_400 })
    const lost = token()
    expect((await ask(lost)).status).toBe(200)
    server.publish(hubOnCurve.jwk)
    clock.advance(10)
    expect((await ask(accessJwt(accessClaims(0), hubOnCurve))).status).toBe(401)
    expect(server.requests).toBe(2)
    expect((await ask(lost)).status).toBe(401)
    expect(failures.map(({ reason }) => reason)).toEqual(['token_expired', 'jwt_key_unknown'])
  })

  test('asks for them again after ten minutes, for remembered tokens too [access-10]', async () => {
    const { ask, token, clock } = guardedPhotos({ jwks_uri: server.uri, maximumAge: 86_400 })
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
    const { ask, clock, now, failures, token } = guardedPhotos({ jwks_uri: server.uri })
    expect((await ask(token())).status).toBe(200)
    clock.advance(3)
    const strange = (kid: string) => accessJwt(accessClaims(now()), partner, { kid })
    const [fresh, dead] = [accessJwt(accessClaims(now()), hubOnCurve), strange('retired')]
    for (const text of [fresh, dead, fresh]) {
      const answer = await ask(text)
      const told = [answer.get('Retry-After'), answer.get('WWW-Authenticate')]
      expect([answer.status, ...told]).toEqual([503, '7', undefined])
    }
    server.publish(hub.jwk, hubOnCurve.jwk)
    clock.advance(6)
    expect((await ask(fresh)).status).toBe(503)
    expect(server.requests).toBe(1)
    // Another one's unknown key causes the fetch, in front of a crowd of them.
    clock.advance(1)
    const first = await ask(strange('first'))
    const crowd = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(strange(`${index}`))))
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
    const { guard, ask, token, failures } = guardedPhotos({ jwks_uri: server.uri })
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

describe('The memory of a guard for JWTs', () => {
  // A verification is what a guard of many tokens pays for. It is real, and counted.
  let verify: jest.SpyInstance
  beforeEach(() => (verify = jest.spyOn(crypto.subtle, 'verify')))
  afterEach(() => verify.mockRestore())
  const verified = () => verify.mock.calls.length

  function open(bend: Parameters<typeof guardedPhotos>[0] = {}) {
    const set = guardedPhotos(bend)
    const status = async (token: string) => (await set.ask(token)).status
    const claims = (more: object = {}) => accessClaims(set.now(), { ...more })
    return { ...set, status, claims, token: (more: object = {}) => accessJwt(claims(more), hubOnCurve) }
  }
  const forged = (token: string, end = 'AAAA') => `${token.slice(0, -4)}${end}`

  describe('A token that a guard has verified', () => {
    test('is verified again after 300 seconds or maximumAge, and never later for being used', async () => {
      for (const [maximumAge, seconds] of [
        [undefined, 300],
        [60, 60],
      ] as const) {
        const { status, token, clock } = open(maximumAge === undefined ? {} : { maximumAge })
        const shown = token()
        const before = verified()
        for (const later of [0, seconds / 2, seconds / 2 - 1]) {
          clock.advance(later)
          expect([await status(shown), verified() - before]).toEqual([200, 1])
        }
        clock.advance(1)
        expect([await status(shown), verified() - before]).toEqual([200, 2])
      }
    })

    test.each([0, 5])(
      'ends with its exp, clocks being %d seconds apart [access-8]',
      async (clockTolerance) => {
        const { status, token, now, clock, failures } = open({ clockTolerance })
        const shown = token({ exp: now() + 100 })
        expect(await status(shown)).toBe(200)
        clock.advance(99 + clockTolerance)
        expect([await status(shown), verified()]).toEqual([200, 1])
        clock.advance(1)
        expect(await status(shown)).toBe(401)
        expect(failures).toMatchObject([{ reason: 'token_expired' }])
      },
    )

    test('is one of a number that is bounded: the one not used for longest is verified again [access-13]', async () => {
      const { status, token, clock } = open({ maximumCached: 2 })
      const [first, second, third] = [token(), token(), token()]
      for (const shown of [first, second, first, third]) {
        expect(await status(shown)).toBe(200)
        clock.advance(1)
      }
      expect(verified()).toBe(3)
      for (const shown of [first, third]) expect([await status(shown), verified()]).toEqual([200, 3])
      expect([await status(second), verified()]).toEqual([200, 4])
    })

    test('is verified each time where none are to be remembered', async () => {
      const { status, token } = open({ maximumCached: 0 })
      const shown = token()
      for (let round = 1; round <= 3; round++) expect([await status(shown), verified()]).toEqual([200, round])
    })

    test('is pushed out of memory by nothing that strangers send [access-12]', async () => {
      const { status, token } = open({ maximumCached: 1 })
      const shown = token()
      await status(shown)
      for (const last of 'ABCD') expect(await status(forged(token(), `${last}AAA`))).toBe(401)
      for (const claims of [{ cnf: { jkt: 'x' } }, { aud: 'https://mail.example' }])
        expect(await status(token(claims))).toBe(401)
      const before = verified()
      expect([await status(shown), verified()]).toEqual([200, before])
    })
  })

  test('A token that comes many times at once is verified once, and a refusal is not remembered [access-14]', async () => {
    const { app, token } = open()
    let arrived = 0
    const host = express().use((_request, _response, next) => {
      arrived += 1
      next()
    }, app)
    const flow = new Flow(host)
    verify.mockRestore()
    const real = crypto.subtle.verify.bind(crypto.subtle)
    verify = jest.spyOn(crypto.subtle, 'verify').mockImplementation(async (...given) => {
      await waitUntil('all have come', async () => arrived === 50)
      return real(...given)
    })
    const all = async (text: string) => {
      arrived = 0
      const asked = Array.from({ length: 50 }, async () => (await flow.photos(text)).status)
      return [new Set(await Promise.all(asked)), verified()]
    }
    expect(await all(token())).toEqual([new Set([200]), 1])
    const wrong = forged(token())
    expect(await all(wrong)).toEqual([new Set([401]), 2])
    expect(await all(wrong)).toEqual([new Set([401]), 3])
  })

  test.each<[string, string, (set: ReturnType<typeof open>) => string]>([
    ['of an odd form', 'jwt_malformed', ({ token }) => `${token()}.`],
    ['of another type', 'jwt_header_refused', ({ claims }) => accessJwt(claims(), hub, { typ: 'JWT' })],
    ['of another issuer', 'token_issuer_unknown', ({ token }) => token({ iss: 'https://nobody.example' })],
    ['of an unknown key', 'jwt_key_unknown', ({ claims }) => accessJwt(claims(), hub, { kid: 'x' })],
  ])('A token that is %s costs no verification (%s) [access-15]', async (_, reason, make) => {
    const set = open()
    expect([await set.status(make(set)), verified()]).toEqual([401, 0])
    expect(set.failures).toMatchObject([{ reason }])
  })

  describe('When the keys', () => {
    const server = new KeyServer()
    beforeAll(() => server.start())
    afterAll(() => server.stop())
    beforeEach(() => {
      server.requests = 0
      server.publish(hubOnCurve.jwk)
    })
    const fetching = () => open({ jwks_uri: server.uri, maximumAge: 86_400 })

    test('change while a token is verified by the old ones, it is verified anew the next time [access-11]', async () => {
      const { status, token, clock, claims } = fetching()
      expect(await status(token())).toBe(200)
      const shown = token()
      verify.mockImplementationOnce(async () => {
        server.publish(hub.jwk)
        clock.advance(10)
        expect(await status(accessJwt(claims(), hub))).toBe(200)
        return true
      })
      expect(await status(shown)).toBe(200)
      expect(await status(shown)).toBe(401)
    })

    test('are fetched again and are the same, in whatever order, remembered tokens stay so', async () => {
      server.publish(hub.jwk, hubOnCurve.jwk)
      const { status, token, clock } = fetching()
      const shown = token()
      expect(await status(shown)).toBe(200)
      server.publish({ ...hubOnCurve.jwk, use: 'sig' }, hub.jwk)
      clock.advance(600)
      expect([await status(token()), await status(shown)]).toEqual([200, 200])
      expect([verified(), server.requests]).toEqual([2, 2])
    })

    test('are not known yet, a stranger has them fetched by a token that names the issuer alone [access-16]', async () => {
      const { status, token } = fetching()
      for (const text of ['x', 'a.b.c', token({ iss: 'https://nobody.example' })])
        expect(await status(text)).toBe(401)
      expect(server.requests).toBe(0)
    })

    test('are too old and cannot be fetched, no token is called invalid, even one that is remembered', async () => {
      const { status, token, clock } = fetching()
      const shown = token()
      expect(await status(shown)).toBe(200)
      server.sayJson('garbage')
      clock.advance(599)
      expect(await status(shown)).toBe(200)
      clock.advance(1)
      expect([await status(shown), await status(token())]).toEqual([503, 503])
    })
  })
})

describe('Attacks on a guard for JWTs', () => {
  const { ask, now, failures } = guardedPhotos()
  const claims = accessClaims(now())
  const good = accessJwt(claims)
  const bent = (bend: object) => accessJwt({ ...claims, ...bend })
  const twice = jws(
    hub,
    encoded(`${JSON.stringify(claims).slice(0, -1)},"__proto__":{"client_id":"mallory"}}`),
    {
      typ: 'at+jwt',
      kid: hub.kid,
    },
  )

  const ofAnotherKind = [
    ['an ID token that says at+jwt', 'token_of_another_kind', bent({ at_hash: 'x' })],
    ['bound to a key by DPoP', 'token_bound_to_key', bent({ cnf: { jkt: 'x' } })],
    ['cnf null', 'token_bound_to_key', bent({ cnf: null })],
  ] as const

  async function refuses(_title: string, reason: string, token: string): Promise<void> {
    const response = await ask(token)
    expect(response.status).toBe(401)
    expect(response.body.error).toBe('invalid_token')
    expect(failures.at(-1)?.reason).toBe(reason)
  }

  describe('A guard for JWTs refuses', () => {
    test.each(ofAnotherKind)('what is no bearer token: %s [access-2, access-3]', refuses)
    test('and after all of them takes the good one, with odd claims beside it and several audiences', async () => {
      expect((await ask(good)).status).toBe(200)
      expect((await ask(twice)).body.clientId).toBe('photo-book')
      expect((await ask(bent({ aud: ['https://mail.example', photoServer] }))).status).toBe(200)
      expect(Object.hasOwn(Object.prototype, 'client_id')).toBe(false)
    })
  })

  describe('A guard for JWTs that has taken a token', () => {
    test('says nothing to a guard for another audience [access-7]', async () => {
      const photos = guardedPhotos()
      const mail = guardedPhotos({ audience: 'https://mail.example' }, { clock: photos.clock.read })
      const token = photos.token()
      expect((await photos.ask(token)).status).toBe(200)
      expect((await mail.ask(token)).status).toBe(401)
      expect((await photos.ask(token)).status).toBe(200)
    })
  })
})
