import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import express from 'express'
import { createBearerGuard, type IntrospectionSource } from '../../lib/paths/guards'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { introspectedPhotos, IntrospectionServer } from '../support/flows/introspection-server'
import { type Maker, mistakesOf } from '../support/mistakes-of'
import { startServer } from '../support/start-server'
import { waitUntil } from '../support/wait-until'

describe('A guard by introspection', () => {
  const server = new IntrospectionServer()
  beforeAll(() => server.start())
  beforeEach(() => {
    server.reset(good)
  })
  afterAll(() => server.stop())

  const good = {
    active: true,
    scope: 'photos:read',
    client_id: 'photo-book',
    sub: 'alice',
    token_type: 'Bearer',
    exp: 4_000_000_000,
  }
  const photos = (bend: Partial<IntrospectionSource> = {}) => introspectedPhotos(server.issuer, bend)
  const withStatus = (status: number, body: object) => (response: ServerResponse) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  const challengeOf = (response: { get(name: string): string | string[] | undefined }) =>
    String(response.get('WWW-Authenticate'))

  test('beside the server of this package admits live tokens, finds the endpoint by the metadata, and sees a revocation after maximumAge', async () => {
    const report = bent(nightlyReport, { may_introspect: true })
    const { client_id } = report.registration
    const host = express()
    const { port, stop } = await startServer(host)
    const issuer = `http://127.0.0.1:${port}`
    const guarded = introspectedPhotos(issuer, { client: { client_id, client_secret: nightlyReport.secret } })
    const clients = [photoBook, report].map(({ registration }) => registration)
    const { app, flow } = application({ issuer, clients, clock: guarded.clock.read })
    host.use(app)
    const { accessToken, refreshToken } = await flow.tokens(photoBook)
    const passed = await guarded.ask(accessToken)
    expect(passed.body).toMatchObject({ subject: 'alice', clientId: 'photo-book', tokenType: 'bearer' })
    expect((await guarded.ask(refreshToken)).status).toBe(401)
    await flow.revoke(photoBook, accessToken)
    expect((await guarded.ask(accessToken)).status).toBe(200)
    guarded.clock.advance(30)
    const revoked = await guarded.ask(accessToken)
    expect([revoked.status, revoked.body.error]).toEqual([401, 'invalid_token'])
    await stop()
  })

  describe('an answer of the introspection endpoint', () => {
    test.each<[string, object, object?]>([
      ['for one of several audiences', { aud: 'photos' }, { audience: ['photos', 'albums'] }],
      ['of the type of a JWT', { token_type: 'AT+JWT' }],
    ])('%s is taken', async (_what, members, options = {}) => {
      server.answer = { ...good, ...members }
      expect((await photos(options).ask('token')).status).toBe(200)
    })

    test('without an end is good until the guard asks again', async () => {
      server.answer = { ...good, exp: undefined }
      const { ask, now } = photos()
      expect((await ask('token')).body.expiresAt).toBe(now() + 30)
    })
  })

  describe('the caches of the guard', () => {
    test('do not count answers from the future, of a clock that was ahead', async () => {
      const { ask, clock } = photos()
      await ask('token')
      clock.advance(-60)
      server.answer = { active: false }
      expect((await ask('token')).status).toBe(401)
      // The time of the former answer comes, and the token has ended since.
      clock.advance(60)
      expect((await ask('token')).status).toBe(401)
    })

    test('give every request the same frozen access', async () => {
      const { app, guard, ask } = photos()
      server.answer = { ...good, roles: { admin: false } }
      app.get('/change', guard('photos:read'), (request, response) => {
        const { oauth } = request
        const claims = oauth !== undefined && 'claims' in oauth ? oauth.claims : {}
        response.json([oauth, claims, claims['roles']].every((value) => Object.isFrozen(value)))
      })
      for (let call = 0; call < 2; call++) expect((await ask('token', '/change')).body).toBe(true)
    })

    test('share one call among parallel requests with one token', async () => {
      const { ask } = photos()
      const waiting: (() => void)[] = []
      server.answer = (response) => {
        waiting.push(() => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(good)))
      }
      const asked = Array.from({ length: 20 }, () => ask('token'))
      await waitUntil('the endpoint is asked', async () => waiting.length > 0)
      for (const answer of waiting) answer()
      const statuses = (await Promise.all(asked)).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set([200]))
      expect(server.asked).toHaveLength(1)
    })
  })

  describe('the bounds of the guard', () => {
    const inactive = { attempts: 3, seconds: 60 }

    test('count no good tokens, and no calls without an answer', async () => {
      const { ask } = photos({ inactive })
      for (const token of ['a', 'b', 'c', 'd']) expect((await ask(token)).status).toBe(200)
      server.answer = (response) => void response.destroy()
      for (const token of ['e', 'f', 'g', 'h']) expect((await ask(token)).status).toBe(503)
    })

    test('count a call that fails with a status for its sender alone', async () => {
      const { ask } = photos({ inactive })
      server.answer = (response) => void response.writeHead(500).end()
      for (const token of ['a', 'b', 'c']) expect((await ask(token)).status).toBe(503)
      expect((await ask('d')).status).toBe(429)
      expect((await ask('d', '/photos', '192.0.2.2')).status).toBe(503)
    })

    test('take no token that was good before for a guess, and no good one waits behind expired ones', async () => {
      const { ask, clock } = photos({ inactive, maximumAge: 5, maximumAgeOfRefusals: 0 })
      const expired = ['a', 'b', 'c', 'd', 'e']
      for (const token of expired) expect((await ask(token)).status).toBe(200)
      clock.advance(6)
      server.answer = { active: false }
      for (let round = 0; round < 2; round++)
        for (const token of expired) expect((await ask(token)).status).toBe(401)
      server.answer = good
      expect((await ask('new')).status).toBe(200)
    })

    // A filter in front of the server, which refuses some texts.
    test('let good tokens pass while a filter answers 403 to texts of strangers', async () => {
      for (const known of [['first'], []]) {
        const { ask } = photos()
        for (const token of known) await ask(token)
        server.answer = (response) => {
          const isJunk = server.asked.at(-1)?.form.get('token')?.startsWith('junk')
          return withStatus(isJunk ? 403 : 200, good)(response)
        }
        for (let turn = 0; turn < 8; turn++) {
          expect((await ask(`junk${turn}`, '/photos', `192.0.2.${turn % 4}`)).status).toBe(503)
          expect((await ask(`good${turn}`, '/photos', '192.0.2.200')).status).toBe(200)
        }
        server.answer = good
      }
    })

    test('try again with a token that was good, also if all that come are no good', async () => {
      const { ask, clock } = photos()
      await ask('good')
      server.answer = (response) => void response.destroy()
      for (let call = 0; call < 6; call++) expect((await ask(`t${call}`)).status).toBe(503)
      server.answer = (response) => {
        const isJunk = server.asked.at(-1)?.form.get('token')?.startsWith('junk')
        return withStatus(isJunk ? 403 : 200, good)(response)
      }
      clock.advance(10)
      expect((await ask('junk')).status).toBe(503)
      expect((await ask('other')).status).toBe(200)
    })

    test.each([500, 429])(
      'stop calls after five failures (%d), and let one through every ten seconds',
      async (failure) => {
        const { ask, clock } = photos()
        await ask('good')
        server.answer = (response) => void response.writeHead(failure).end()
        for (let call = 0; call < 7; call++) expect((await ask(`t${call}`)).status).toBe(503)
        expect(server.asked).toHaveLength(6)
        expect((await ask('good')).status).toBe(200)
        clock.advance(9)
        expect((await ask('early')).status).toBe(503)
        clock.advance(1)
        const probes = await Promise.all([ask('x'), ask('y'), ask('z')])
        expect(probes.map(({ status }) => status)).toEqual([503, 503, 503])
        expect(server.asked).toHaveLength(7)
        server.answer = good
        clock.advance(10)
        expect((await ask('x')).status).toBe(200)
        expect((await ask('y')).status).toBe(200)
      },
    )

    test('count tokens that the endpoint refuses to look at, and never stop calls about others', async () => {
      const { ask, failures } = photos({ inactive: { attempts: 8, seconds: 60 } })
      server.answer = withStatus(400, { error: 'invalid_request' })
      for (let call = 0; call < 8; call++) expect((await ask(`strange${call}`)).status).toBe(503)
      expect((await ask('strange8')).status).toBe(429)
      expect(new Set(failures.map(({ reason }) => reason))).toEqual(
        new Set(['introspection_unavailable', 'introspection_limited']),
      )
      server.answer = good
      expect((await ask('token', '/photos', '192.0.2.2')).status).toBe(200)
    })

    test('take a token of a type that the endpoint does not support for one that is not active', async () => {
      const { ask } = photos({ inactive })
      server.answer = withStatus(400, { error: 'unsupported_token_type' })
      for (const token of ['a', 'a', 'b', 'c']) expect((await ask(token)).status).toBe(401)
      expect(server.asked).toHaveLength(3)
      expect((await ask('d')).status).toBe(429)
    })

    test('refuse a token of more than 8192 characters without a call', async () => {
      expect((await photos().ask('x'.repeat(8193))).status).toBe(401)
      expect(server.asked).toHaveLength(0)
    })
  })

  describe('the endpoint', () => {
    test('is found where OpenID Connect Discovery has it, if RFC 8414 names none', async () => {
      server.openId = true
      expect((await photos().ask('token')).status).toBe(200)
      server.metadata = { issuer: 'https://other.example' }
      expect((await photos().ask('token')).status).toBe(503)
    })

    test('that moves is followed: at once if the former place fails, and after ten minutes anyway', async () => {
      const { ask, clock } = photos({ maximumAge: 0, maximumAgeOfRefusals: 0 })
      await ask('token')
      server.move('/tokens/check')
      clock.advance(11)
      expect((await ask('token')).status).toBe(503)
      await waitUntil('the guard asks at the new place', async () => (await ask('token')).status === 200)
      expect(server.lookedUp).toBe(2)
      // The former place of a server may go on to answer that no token is active.
      server.move('/tokens/other', { active: false })
      expect((await ask('token')).status).toBe(401)
      clock.advance(600)
      await waitUntil('the guard has looked again', async () => (await ask('token')).status === 200)
    })

    test('is not looked up again within ten seconds, and stays known while the metadata are away', async () => {
      const { ask, clock } = photos({ maximumAge: 0 })
      await ask('token')
      server.metadata = { introspection_endpoint: 'http://photos.example/introspect' }
      server.answer = withStatus(500, {})
      for (const token of ['a', 'b', 'c']) expect((await ask(token)).status).toBe(503)
      expect(server.lookedUp).toBe(1)
      clock.advance(10)
      expect((await ask('d')).status).toBe(503)
      await waitUntil('the guard has looked again', async () => server.lookedUp === 2)
      server.answer = good
      expect((await ask('token')).status).toBe(200)
    })

    test('of the option needs no metadata', async () => {
      server.metadata = { issuer: 'https://other.example' }
      const { ask, guard } = photos({ endpoint: server.endpoint })
      expect((await ask('token')).status).toBe(200)
      await guard.close()
      expect([(await ask('token')).status, await guard.ready()]).toEqual([503, false])
    })
  })

  test('a challenge names the metadata of the resource, which the guard serves', async () => {
    const resource = 'https://photos.example/api'
    const resources = { [resource]: { scopes: ['photos:read', 'photos:print'] } }
    const more = { resources, guards: { realm: 'photos' } }
    const { app, guard, ask } = introspectedPhotos(server.issuer, {}, more)
    app.use(guard.protectedResource())
    server.answer = { active: false }
    expect(challengeOf(await ask('token'))).toBe(
      'Bearer realm="photos", scope="photos:read", error="invalid_token", error_description="The access token is unknown, expired or revoked.", resource_metadata="https://photos.example/.well-known/oauth-protected-resource/api"',
    )
  })

  test('every mistake in the options has its path', () => {
    const wrong = {
      client: { client_id: '', client_secret: 7, method: 'none', more: 1 },
      endpoint: 'http://photos.example/introspect',
      audience: [],
      maximumAge: -1,
      maximumCached: -1,
      maximumAgeOfRefusals: 301,
      clockTolerance: 1.5,
      deadline: 61,
      inactive: { attempts: 0 },
      store: {},
    }
    const guard: Maker = { make: createBearerGuard }
    const options = { issuer: 'http://photos.example', introspection: wrong }
    const ofClient = ['client_id', 'client_secret', 'method', 'more'].map((name) => `client.${name}`)
    const { client: _client, inactive: _inactive, ...others } = wrong
    const members = [...Object.keys(others), ...ofClient, 'inactive.attempts']
    expect(new Set(mistakesOf(guard, options).map(({ path }) => path))).toEqual(
      new Set(['issuer', ...members.map((name) => `introspection.${name}`)]),
    )
  })
  // What endpoints of other makers answer. oidc-provider itself answers in test/system/foreign-servers.
  // As Keycloak answers for a user, with members that no specification has.
  const keycloak = {
    active: true,
    iat: 1_700_000_000,
    exp: 4_000_000_000,
    aud: ['photos', 'account'],
    sub: 'f1888f4d-5172-4359-be0c-af338505d86c',
    typ: 'Bearer',
    azp: 'photo-book',
    'allowed-origins': ['https://book.example'],
    realm_access: { roles: ['offline_access', 'uma_authorization'] },
    scope: 'openid photos:read profile',
    client_id: 'photo-book',
    username: 'alice',
    token_type: 'Bearer',
  }
  // Doorkeeper names no owner.
  const doorkeeper = { active: true, scope: 'photos:read', client_id: 'photo-book', token_type: 'Bearer' }
  const forPhotos = { audience: 'photos' }

  test.each<[string, object, Partial<IntrospectionSource>, string | undefined]>([
    ['with members of its own', keycloak, forPhotos, undefined],
    ['about a refresh token, by typ', { ...keycloak, typ: 'Refresh' }, forPhotos, 'of_another_kind'],
    ['without an owner', doorkeeper, {}, undefined],
    ['whose aud is empty', { ...doorkeeper, aud: [] }, {}, undefined],
    [
      'about a refresh token, by token_use',
      { ...doorkeeper, token_use: 'refresh_token' },
      {},
      'of_another_kind',
    ],
    ['whose exp is 0, for no end', { ...doorkeeper, exp: 0 }, {}, 'expired'],
    [
      'with null for everything else',
      { ...doorkeeper, sub: null, iss: null, aud: null, cnf: null },
      {},
      undefined,
    ],
  ])('the guard reads an answer %s', async (_what, answer, options, reason) => {
    server.answer = answer
    const { ask, failures } = introspectedPhotos(server.issuer, options)
    expect((await ask('token')).status).toBe(reason === undefined ? 200 : 401)
    expect(failures.map((failure) => failure.reason)).toEqual(reason === undefined ? [] : [`token_${reason}`])
  })

  const text = JSON.stringify(doorkeeper)
  const json = { 'Content-Type': 'application/json' }

  test.each<[string, (response: ServerResponse) => void]>([
    [
      'of a type with capitals and a charset, compressed',
      (response) => {
        const headers = { 'content-type': 'Application/JSON;charset=UTF-8', 'Content-Encoding': 'gzip' }
        response.writeHead(200, headers).end(gzipSync(text))
      },
    ],
    [
      'in chunks',
      (response) => {
        response.writeHead(200, json).write(text.slice(0, 7))
        setImmediate(() => response.end(text.slice(7)))
      },
    ],
    [
      'that drops the connection afterwards',
      (response) => {
        const { length } = text
        const end = () => response.socket?.destroySoon()
        response.writeHead(200, { ...json, 'Content-Length': length }).end(text, end)
      },
    ],
  ])('an answer %s, several times', async (_what, answer) => {
    server.answer = answer
    const { ask } = introspectedPhotos(server.issuer, { maximumAge: 0 })
    for (const token of ['a', 'b', 'c']) expect((await ask(token)).status).toBe(200)
  })
})
