import { createHash } from 'node:crypto'
import express, { type RequestHandler } from 'express'
import request from 'supertest'
import { implicit, memoryStore } from '../../lib/index'
import { createBearerGuard } from '../../lib/paths/guards'
import { application } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { authorizationRequest, Flow, basic, type Fields, type Headers } from '../support/flows/flow'
import { recordingStage } from '../support/flows/recording-stage'
import { oldPrint, PasswordCheck, passwordRequest, withPassword } from '../support/flows/password'
import { codeOf, fragmentOf } from '../support/flows/redirection'
import { describeOnStores } from '../support/flows/stores-of-run'
import { tokensOf } from '../support/flows/tokens'
import { credentialFingerprint } from '../support/flows/every-endpoint'
import { recordEvents } from '../support/events'
import { setStage } from '../support/flows/stage'
import { warningsOf } from '../support/warnings'

describe('events', () => {
  test.each([
    ['[2001:db8::7]:50123', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
  ])('name the address %s of a proxy without its port', async (sent, address) => {
    const { app, flow, oauth } = application()
    app.set('trust proxy', 'loopback')
    const told: unknown[] = []
    oauth.events.on('refused', (event) => told.push(event.address))
    await flow.behind({ 'X-Forwarded-For': sent }).submit('/token', { client_id: 'nobody', grant_type: 'x' })
    expect(told).toEqual([address])
  })

  const local = /^(?:::ffff:)?127\.0\.0\.1$/
  const photos = ['photos:read', 'photos:print']

  /** What every event of alice's at this app has. */
  const ofAlice = (time: number) => ({
    time,
    requestId: expect.stringMatching(/^[0-9a-f]{16}$/),
    clientId: 'photo-book',
    subject: 'alice',
    address: expect.stringMatching(local),
    authorizationId: expect.stringMatching(/^[\w-]{22}$/),
  })

  describeOnStores('Events of what goes well', (stage) => {
    test('report the main flow: approved, issued, refreshed, repeated, and at last reused [store-14]', async () => {
      const { flow, clock, recorded } = recordingStage(stage)
      const code = await flow.approve(photoBook)
      const first = tokensOf(await flow.redeem(photoBook, code))
      await flow.photos(first.accessToken)
      const second = tokensOf(await flow.refresh(photoBook, first.refreshToken, { scope: 'photos:read' }))
      await flow.refresh(photoBook, first.refreshToken, { scope: 'photos:read' })
      const third = tokensOf(await flow.refresh(photoBook, second.refreshToken))
      clock.advance(31)
      await flow.refresh(photoBook, first.refreshToken)
      await flow.photos(third.accessToken)

      const alice = ofAlice(clock.read() - 31_000)
      const grant = {
        ...alice,
        reason: undefined,
        grantType: undefined,
        responseType: undefined,
        scope: photos,
      }
      const tokens = { ...grant, endpoint: 'token', grantType: 'refresh_token' }
      const theft = {
        ...ofAlice(clock.read()),
        reason: 'refresh_token_reused',
        credential: credentialFingerprint(first.refreshToken),
      }
      expect(recorded).toEqual([
        {
          ...grant,
          event: 'approved',
          endpoint: 'authorization',
          responseType: 'code',
          credential: credentialFingerprint(code),
        },
        {
          ...tokens,
          event: 'issued',
          grantType: 'authorization_code',
          credential: credentialFingerprint(first.accessToken),
        },
        {
          ...tokens,
          event: 'refreshed',
          scope: ['photos:read'],
          credential: credentialFingerprint(second.accessToken),
        },
        {
          ...tokens,
          event: 'refreshed',
          reason: 'repeated',
          scope: ['photos:read'],
          credential: credentialFingerprint(second.accessToken),
        },
        { ...tokens, event: 'refreshed', credential: credentialFingerprint(third.accessToken) },
        { ...theft, event: 'reused', endpoint: 'token', code: 'invalid_grant' },
        { ...tokens, ...theft, event: 'revoked' },
        {
          ...ofAlice(clock.read()),
          event: 'refused',
          endpoint: 'protected resource',
          code: 'invalid_token',
          reason: 'token_invalid',
          clientId: undefined,
          subject: undefined,
          authorizationId: undefined,
          credential: credentialFingerprint(third.accessToken),
        },
      ])
      expect(new Set(recorded.slice(0, 7).map(({ authorizationId }) => authorizationId)).size).toBe(1)
      expect(new Set(recorded.map(({ requestId }) => requestId)).size).toBe(7)
    })

    test('report tokens of the authorization endpoint with their response type', async () => {
      const registration = { ...photoBook.registration, grant_types: ['implicit'], response_types: ['token'] }
      const { flow, recorded } = recordingStage(stage, {
        clients: [registration],
        plugins: [implicit()],
      })
      const asked = { ...authorizationRequest(photoBook), response_type: 'token' }
      const answer = await flow.decide(await flow.ask(asked, 'alice'), 'approve', 'alice')
      const credential = credentialFingerprint(fragmentOf(answer).parameters['access_token'] ?? '')
      expect(recorded).toMatchObject([
        {
          event: 'issued',
          endpoint: 'authorization',
          responseType: 'token',
          grantType: undefined,
          credential,
        },
      ])
      expect(recorded[0]?.requestId).toBe(answer.get('X-Request-Id'))
    })

    test('report grants without an owner, with a password, and a limit', async () => {
      const { verify } = new PasswordCheck()
      const limits = { username: { attempts: 1 } }
      const granting = withPassword({ verify, limits })
      const clients = [...granting.clients, nightlyReport.registration]
      const { flow, recorded } = recordingStage(stage, { ...granting, clients })
      await flow.request(nightlyReport, { grant_type: 'client_credentials', scope: 'photos:read' })
      await flow.request(oldPrint, passwordRequest)
      await flow.request(oldPrint, { ...passwordRequest, password: 'guess' })
      await flow.request(oldPrint, passwordRequest)
      expect(recorded).toMatchObject([
        { event: 'issued', grantType: 'client_credentials', clientId: 'nightly-report', subject: undefined },
        { event: 'issued', grantType: 'password', clientId: 'photo-print', subject: 'subject of alice' },
        { event: 'refused', code: 'invalid_grant', reason: 'password_refused', subject: undefined },
        { event: 'throttled', code: 'temporarily_unavailable', reason: 'password_username_limited' },
      ])
      expect(recorded[3]).toHaveProperty('retryAfter', expect.any(Number))
      expect(recorded[3]).not.toHaveProperty('cause')
    })

    test('report a revocation by a client once, and none of a token that is gone or of another client', async () => {
      const { flow, recorded, named } = recordingStage(stage)
      const { accessToken, refreshToken } = await flow.tokens(photoBook)
      await flow.revoke(photoPrint, refreshToken)
      expect(named('revoked')).toEqual([])
      const answer = await flow.revoke(photoBook, accessToken)
      await flow.revoke(photoBook, refreshToken)
      await flow.revoke(photoBook, 'garbage')
      expect(recorded.slice(2)).toMatchObject([
        {
          event: 'revoked',
          endpoint: 'revocation',
          reason: 'client',
          clientId: 'photo-book',
          subject: 'alice',
          grantType: undefined,
          scope: photos,
          credential: credentialFingerprint(accessToken),
          requestId: answer.get('X-Request-Id'),
        },
      ])
      expect(recorded).toHaveLength(3)
    })

    test('report a revocation by the host, which is no request', async () => {
      const { oauth, flow, clock, recorded, named } = recordingStage(stage)
      await flow.tokens(photoBook)
      const authorizationId = recorded[0]?.authorizationId ?? ''
      await oauth.revoke(authorizationId)
      await oauth.revoke(authorizationId)
      expect(named('revoked')).toEqual([
        {
          ...ofAlice(clock.read()),
          event: 'revoked',
          endpoint: 'host',
          reason: 'host',
          requestId: undefined,
          address: undefined,
          authorizationId,
          credential: undefined,
          grantType: undefined,
          responseType: undefined,
          scope: photos,
        },
      ])
    })

    test('report a revocation by the host even if the record cannot be read', async () => {
      const { oauth, flow, store, recorded, named } = recordingStage(stage)
      await flow.tokens(photoBook)
      const authorizationId = recorded[0]?.authorizationId ?? ''
      store.begin('fails', 'read')
      await oauth.revoke(authorizationId)
      expect(named('revoked')).toMatchObject([{ authorizationId, reason: 'host', clientId: undefined }])
      store.begin('fails', 'remove')
      await expect(oauth.revoke(authorizationId)).rejects.toHaveProperty('reason', 'store_unavailable')
      expect(named('revoked')).toHaveLength(1)
    })
  })
})

describe('events refused', () => {
  const photos = ['photos:read', 'photos:print']

  describeOnStores('Events of what is refused', (stage) => {
    test('report a replayed code with its client and owner, and the revocation that follows', async () => {
      const { flow, recorded } = recordingStage(stage)
      const code = await flow.approve(photoBook)
      await flow.redeem(photoPrint, code)
      await flow.redeem(photoBook, code)
      const response = await flow.redeem(photoBook, code)
      await flow.redeem(photoBook, code)
      expect(recorded.slice(1)).toMatchObject([
        // Another client's try names the client that tried, and whose authorization it tried.
        { event: 'refused', reason: 'code_of_another_client', clientId: 'photo-print', subject: 'alice' },
        { event: 'issued' },
        { event: 'replayed', reason: 'code_replayed', clientId: 'photo-book', subject: 'alice' },
        { event: 'revoked', reason: 'code_replayed', grantType: 'authorization_code', scope: photos },
        { event: 'refused', reason: 'code_unknown', subject: undefined, authorizationId: undefined },
      ])
      expect(recorded.slice(3, 5).map(({ requestId }) => requestId)).toEqual(
        Array.from({ length: 2 }, () => response.get('X-Request-Id')),
      )
      for (const { event, credential } of recorded)
        expect(event === 'issued' || credential === credentialFingerprint(code)).toBe(true)
    })

    test('report at a guard the client of an insufficient scope, and nothing of what passes', async () => {
      const { flow, recorded } = recordingStage(stage)
      const good = await flow.tokens(photoBook)
      await flow.photos(good.accessToken)
      await flow.open('/photos')
      expect(recorded.map(({ event }) => event)).toEqual(['approved', 'issued'])
      const { accessToken } = await flow.tokens(photoBook, { scope: 'photos:print' })
      const answer = await flow.photos(accessToken)
      expect(recorded[4]).toMatchObject({
        event: 'refused',
        endpoint: 'protected resource',
        code: 'insufficient_scope',
        reason: 'token_scope_insufficient',
        clientId: 'photo-book',
        subject: 'alice',
        authorizationId: recorded[3]?.authorizationId,
        credential: recorded[3]?.credential,
        requestId: answer.get('X-Request-Id'),
      })
    })

    test('report a failing store as a failure with its cause, and never as success', async () => {
      const { flow, store, recorded } = recordingStage(stage)
      const code = await flow.approve(photoBook)
      store.begin('fails', 'write')
      const answer = await flow.redeem(photoBook, code)
      expect(recorded.slice(1)).toMatchObject([
        {
          event: 'failure',
          endpoint: 'token',
          code: 'temporarily_unavailable',
          reason: 'store_unavailable',
          clientId: 'photo-book',
          credential: credentialFingerprint(code),
          requestId: answer.get('X-Request-Id'),
          cause: expect.any(Error),
        },
      ])
    })

    test('report the use of an old secret beside the outcome, under one id', async () => {
      const hashes = [...(photoPrint.registration.client_secret_hashes ?? [])]
      const [newest = ''] = nightlyReport.registration.client_secret_hashes ?? []
      const { registration } = bent(photoPrint, { client_secret_hashes: [...hashes, newest] })
      const { flow, recorded } = recordingStage(stage, { clients: [registration] })
      const code = codeOf(
        await flow.decide(await flow.ask(authorizationRequest(photoPrint), 'alice'), 'approve', 'alice'),
      )
      const answer = await flow.redeem(photoPrint, code)
      expect(recorded.slice(1)).toMatchObject([
        { event: 'oldSecretUsed', endpoint: 'token', clientId: 'photo-print', reason: undefined },
        { event: 'issued', clientId: 'photo-print' },
      ])
      for (const { requestId } of recorded.slice(1)) expect(requestId).toBe(answer.get('X-Request-Id'))
    })
  })
})

describe('A listener that fails', () => {
  const failures: readonly (readonly [string, () => unknown])[] = [
    [
      'throws',
      () => {
        throw new Error('log')
      },
    ],
    ['rejects', async () => Promise.reject(new Error('log'))],
  ]
  test.each(failures)('changes no response and stops no other listener, when it %s', async (_how, fail) => {
    // It warns, and the tests' output is not for that.
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const { oauth, flow } = application()
    for (const name of ['approved', 'issued', 'revoked', 'refused'] as const) oauth.events.on(name, fail)
    const recorded = recordEvents(oauth.events)
    const { accessToken } = await flow.tokens(photoBook)
    expect((await flow.photos('garbage')).status).toBe(401)
    expect((await flow.photos(accessToken)).status).toBe(200)
    expect((await flow.revoke(photoBook, accessToken)).status).toBe(200)
    await oauth.revoke('A'.repeat(22))
    expect(recorded.map(({ event }) => event)).toEqual(['approved', 'issued', 'refused', 'revoked'])
    warn.mockRestore()
  })

  test('causes one warning for each event', async () => {
    const program = `
      const oauth = createAuthorizationServer(options)
      oauth.events.on('refused', async () => { throw new Error('disk is full') })
      await serve(express().use(oauth.router()), async (url) => {
        for (let i = 0; i < 2; i++) await fetch(url + '/authorize?client_id=x')
      })
    `
    expect(await warningsOf(program)).toEqual([
      {
        name: 'AuthorizationServerWarning',
        code: 'EAS_EVENT_LISTENER',
        message: expect.stringMatching(/^A listener of the event 'refused' failed: Error: disk is full/),
      },
    ])
  })
})

test('a listener cannot change the event of the next one', async () => {
  const { oauth, flow } = application()
  oauth.events.on('refused', (event) => void Reflect.set(event, 'clientId', 'nobody'))
  const recorded = recordEvents(oauth.events)
  await flow.ask('client_id=photo-book&redirect_uri=x')
  expect(recorded).toMatchObject([{ clientId: 'photo-book' }])
})

test('without listeners, a success has no request id', async () => {
  const { flow } = setStage()
  const page = await flow.ask(authorizationRequest(photoBook), 'alice')
  const approval = await flow.decide(page, 'approve', 'alice')
  const answer = await flow.redeem(photoBook, codeOf(approval))
  for (const { headers } of [page, approval, answer]) expect(headers).not.toHaveProperty('x-request-id')
})

test('a listener of one event puts a request id on its responses, and on no other', async () => {
  const { oauth, flow } = application()
  oauth.events.on('issued', () => undefined)
  const response = await flow.redeem(photoBook, await flow.approve(photoBook))
  expect(response.get('X-Request-Id')).toMatch(/^[0-9a-f]{16}$/)
  const refreshed = await flow.refresh(photoBook, tokensOf(response).refreshToken)
  expect(refreshed.headers).not.toHaveProperty('x-request-id')
})

test('a guard by itself emits its refusals, with the time of its clock', async () => {
  const shared = memoryStore()
  const server = setStage({ store: shared })
  const guard = createBearerGuard({
    issuer: 'http://localhost',
    store: shared,
    clock: () => server.clock.read() + 5,
  })
  const recorded = recordEvents(guard.events)
  const photos = new Flow(express().get('/photos', guard('photos:read')))
  const { accessToken } = await server.flow.tokens(photoBook, { scope: 'photos:print' })
  const answer = await photos.photos(accessToken)
  expect(recorded).toMatchObject([
    {
      event: 'refused',
      time: server.clock.read() + 5,
      endpoint: 'protected resource',
      reason: 'token_scope_insufficient',
      clientId: 'photo-book',
      subject: 'alice',
      requestId: answer.get('X-Request-Id'),
    },
  ])
})

const onRequest =
  (id: unknown): RequestHandler =>
  (incoming, _response, next) => {
    Object.assign(incoming, { id })
    next()
  }
const onResponse =
  (id: string): RequestHandler =>
  (_request, response, next) => {
    response.setHeader('X-Request-Id', id)
    next()
  }

/** The id of a refused request behind these handlers, which response, page and event agree on. */
async function idBehind(
  before: readonly RequestHandler[],
  sent: Record<string, string> = {},
): Promise<string> {
  const { app, failures } = application({}, { mount: (host, oauth) => host.use(...before, oauth.router()) })
  const { headers, text } = await request(app).get('/authorize').set(sent)
  const id = String(headers['x-request-id'])
  expect(failures).toMatchObject([{ requestId: id }])
  expect(text).toContain(`<code>${id}</code>`)
  expect(headers).not.toHaveProperty('set-cookie')
  return id
}

test.each([
  ['on the request', [onRequest('host-1:a.b_C')]],
  ['on the response', [onResponse('host-1:a.b_C')]],
  ['on both, differently: that of the response', [onRequest('other'), onResponse('host-1:a.b_C')]],
])('The id of a request is the one that the host put %s', async (_where, before) => {
  expect(await idBehind(before)).toBe('host-1:a.b_C')
})

test.each([
  ['a line break', 'a\r\nSet-Cookie: evil=1'],
  ['a line break at its end', 'host-1\n'],
  ['markup', '<script>alert(1)</script>'],
  ['a space', 'a b'],
  ['nothing', ''],
  ['129 letters', 'a'.repeat(129)],
  ['letters that are not ASCII', 'é'],
  ['a number', 7],
  ['an object', { toString: () => 'evil' }],
])('The id of a request is a new one when the host has put %s there', async (_what, id) => {
  expect(await idBehind([onRequest(id)])).toMatch(/^[0-9a-f]{16}$/)
})

test('The id of a request is not what the request says, and each has its own [edge-11]', async () => {
  const ids = [await idBehind([], { 'X-Request-Id': 'outside' }), await idBehind([])]
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/)
  expect(new Set(ids).size).toBe(2)
})

const nobody = (clientId: string) => createHash('sha256').update(clientId).digest('hex').slice(0, 8)
const long = 'x'.repeat(256)

test.each<[string, string | undefined, Fields, Headers]>([
  ['in Basic', 'photo-print', {}, { Authorization: basic('photo-print', 'wrong') }],
  ['in the body', nobody('x'), { client_id: 'x', client_secret: 'y' }, {}],
  ['by its name alone', nobody('nobody'), { client_id: 'nobody' }, {}],
  ['at great length', nobody(long), { client_id: long }, {}],
  ['at too great length', undefined, { client_id: `${long}x` }, {}],
  ['not at all', undefined, {}, {}],
  ['twice', undefined, { client_secret: 'z' }, { Authorization: basic('x', 'y') }],
])(
  'A refusal names the client that was claimed %s, so that an alarm can count',
  async (_how, clientId, fields, headers) => {
    const { flow, failures } = application()
    await flow.submit('/token', fields, undefined, headers)
    expect(failures).toEqual([expect.objectContaining({ endpoint: 'token', clientId })])
  },
)

test('A refusal reaches no listener of another server, and is not made of a request that shows no token', async () => {
  const [first, second] = [application(), application()]
  await first.flow.open('/authorize')
  const { headers } = await second.flow.open('/photos')
  expect([first.failures.length, second.failures.length]).toEqual([1, 0])
  expect(headers).not.toHaveProperty('x-request-id')
})
