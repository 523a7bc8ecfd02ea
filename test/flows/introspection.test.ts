import type { Response } from 'supertest'
import { bent, everyClient, nightlyReport, photoBook, photoFrame, photoPrint } from '../support/flows/clients'
import { describeOnStores } from '../support/flows/stores-of-run'
import { expectUncachedJson, refusalOf, tokensOf } from '../support/flows/tokens'

/** A resource server that gets tokens of its own, too. */
const report = bent(nightlyReport, { may_introspect: true })
/** A client that may introspect and has refresh tokens. */
const frame = bent(photoFrame, { may_introspect: true })
const clients = [photoBook, photoPrint, frame, report].map(({ registration }) => registration)

function answerOf(response: Response): unknown {
  expect(response.status).toBe(200)
  expectUncachedJson(response)
  return JSON.parse(response.text)
}

describeOnStores('Introspection', (stage) => {
  test('returns the members of every valid access token to a resource server', async () => {
    const { flow, clock } = stage({ clients })
    for (const client of [photoBook, photoPrint]) {
      const exp = Math.floor(clock.read() / 1000) + 3600
      const { accessToken } = await flow.tokens(client, { scope: 'photos:read' })
      expect(answerOf(await flow.introspect(report, accessToken))).toEqual({
        active: true,
        scope: 'photos:read',
        client_id: client.registration.client_id,
        token_type: 'bearer',
        exp,
        sub: 'alice',
        iss: 'http://localhost',
      })
    }
  })

  test('names the client as the subject where it acts for itself', async () => {
    const { flow } = stage({ clients })
    const grant = { grant_type: 'client_credentials', scope: 'reports:write' }
    const { accessToken } = tokensOf(await flow.request(report, grant))
    expect(answerOf(await flow.introspect(report, accessToken))).toMatchObject({
      active: true,
      client_id: 'nightly-report',
      sub: 'nightly-report',
    })
  })

  test('answers active:false for expired, revoked and forged tokens', async () => {
    const { flow, clock, oauth } = stage({ clients })
    const tokens = await flow.tokens(photoBook)
    const garbage = `at_${tokens.accessToken.slice(3, 25)}${'A'.repeat(42)}`
    const code = await flow.approve(photoBook)
    const dead = await flow.tokens(photoBook)
    await flow.revoke(photoBook, dead.refreshToken)
    for (const token of ['x', '\u00e9', garbage, code, dead.accessToken])
      expect(answerOf(await flow.introspect(report, token))).toEqual({ active: false })
    clock.advance(3600)
    expect(answerOf(await flow.introspect(report, tokens.accessToken))).toEqual({ active: false })
    expect(oauth.events.listenerCount('failure')).toBe(1)
  })

  test('answers about a refresh token to its client alone', async () => {
    const { flow } = stage({ clients })
    const { refreshToken } = await flow.tokens(frame)
    const answer = answerOf(await flow.introspect(frame, refreshToken))
    expect(answer).toMatchObject({
      active: true,
      client_id: 'photo-frame',
      sub: 'alice',
      scope: 'photos:read',
    })
    expect(answer).not.toHaveProperty('token_type')
    expect(answerOf(await flow.introspect(report, refreshToken))).toEqual({ active: false })
    tokensOf(await flow.refresh(frame, refreshToken))
    expect(answerOf(await flow.introspect(frame, refreshToken))).toEqual({ active: false })
  })

  test('refuses every other caller before it reads the store', async () => {
    const { flow, store, failures } = stage()
    const { accessToken } = await flow.tokens(photoPrint)
    const { find } = store.calls
    for (const client of everyClient)
      expect(refusalOf(await flow.introspect(client, accessToken))).toBe('400 unauthorized_client')
    expect(refusalOf(await flow.introspect({ ...report, secret: 'guess' }, accessToken))).toBe(
      '401 invalid_client',
    )
    expect(refusalOf(await flow.submit('/introspect', { token: accessToken }))).toBe('401 invalid_client')
    expect(store.calls.find).toBe(find)
    expect(new Set(failures.map(({ endpoint }) => endpoint))).toEqual(new Set(['introspection']))
  })

  test('requires a token in the body, and no hint', async () => {
    const { flow } = stage({ clients })
    const { accessToken } = await flow.tokens(photoBook)
    expect(refusalOf(await flow.introspect(report, ''))).toBe('400 invalid_request')
    const inQuery = await flow.request(report, {}, `/introspect?token=${accessToken}`)
    expect(refusalOf(inQuery)).toBe('400 invalid_request')
    expect((await flow.open('/introspect')).status).toBe(405)
    const hinted = await flow.introspect(report, accessToken, { token_type_hint: 'refresh_token' })
    expect(answerOf(hinted)).toMatchObject({ active: true })
  })
})

function expectDone(response: Response): void {
  expect({ status: response.status, text: response.text }).toEqual({ status: 200, text: '{}' })
  expectUncachedJson(response)
}

const known = (prefix: string, token: string) =>
  `${prefix}${token.slice(3, 25)}${'A'.repeat(prefix === 'rt_' ? 58 : 42)}`

describeOnStores('Revocation', (stage) => {
  test.each([
    ['a refresh token', 'refreshToken'],
    ['an access token', 'accessToken'],
  ] as const)(
    'of %s revokes the whole authorization, and no other one [revocation-3]',
    async (_title, which) => {
      const { flow } = stage()
      for (const client of [photoBook, photoPrint]) {
        const tokens = await flow.tokens(client)
        const other = await flow.tokens(client)
        expectDone(await flow.revoke(client, tokens[which]))
        expect((await flow.photos(tokens.accessToken)).status).toBe(401)
        expect(refusalOf(await flow.refresh(client, tokens.refreshToken))).toBe('400 invalid_grant')
        expect((await flow.photos(other.accessToken)).status).toBe(200)
        expectDone(await flow.revoke(client, tokens[which]))
      }
    },
  )

  test('of an old refresh token revokes it, too', async () => {
    const { flow } = stage()
    const { refreshToken } = await flow.tokens(photoPrint)
    const { accessToken } = tokensOf(await flow.refresh(photoPrint, refreshToken))
    expectDone(await flow.revoke(photoPrint, refreshToken))
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('of a token of client credentials works alike', async () => {
    const { flow } = stage()
    const grant = { grant_type: 'client_credentials', scope: 'photos:read' }
    const { accessToken } = tokensOf(await flow.request(nightlyReport, grant))
    expectDone(await flow.revoke(nightlyReport, accessToken))
    expect((await flow.photos(accessToken)).status).toBe(401)
  })

  test('of an unknown or foreign token does nothing, with the same response', async () => {
    const { flow, store } = stage()
    const { accessToken, refreshToken } = await flow.tokens(photoPrint)
    for (const client of everyClient.filter((one) => one !== photoPrint)) {
      expectDone(await flow.revoke(client, accessToken))
      expectDone(await flow.revoke(client, refreshToken))
    }
    const garbage = [
      'x',
      '\u00e9',
      known('at_', accessToken),
      known('rt_', refreshToken),
      'at_',
      accessToken + 'A',
    ]
    for (const token of garbage) expectDone(await flow.revoke(photoPrint, token))
    expect(store.calls.remove).toBe(0)
    expect((await flow.photos(accessToken)).status).toBe(200)
    tokensOf(await flow.refresh(photoPrint, refreshToken))
  })

  test('of a code does nothing', async () => {
    const { flow } = stage()
    const code = await flow.approve(photoPrint)
    expectDone(await flow.revoke(photoPrint, code))
    expect(tokensOf(await flow.redeem(photoPrint, code)).refreshToken).not.toBe('')
  })

  test.each(['access_token', 'refresh_token', 'pickle', ''])(
    'ignores the hint %p',
    async (token_type_hint) => {
      const { flow } = stage()
      const { accessToken, refreshToken } = await flow.tokens(photoBook)
      expectDone(await flow.revoke(photoBook, refreshToken, { token_type_hint }))
      expect((await flow.photos(accessToken)).status).toBe(401)
    },
  )

  test('refuses like the token endpoint', async () => {
    const { flow, failures } = stage()
    const { accessToken } = await flow.tokens(photoPrint)
    const { registration } = photoPrint
    const wrong = { ...photoPrint, secret: 'guess' }
    expect(refusalOf(await flow.revoke(wrong, accessToken))).toBe('401 invalid_client')
    expect(refusalOf(await flow.revoke({ registration }, accessToken))).toBe('401 invalid_client')
    expect(refusalOf(await flow.revoke(photoPrint, ''))).toBe('400 invalid_request')
    const twice = `client_id=photo-book&token=${accessToken}&token=${accessToken}`
    expect(refusalOf(await flow.submit('/revoke', twice))).toBe('400 invalid_request')
    const inQuery = await flow.request(photoPrint, {}, `/revoke?token=${accessToken}`)
    expect(refusalOf(inQuery)).toBe('400 invalid_request')
    const got = await flow.open('/revoke')
    expect([got.status, got.headers['allow']]).toEqual([405, 'POST'])
    expect(new Set(failures.map(({ endpoint }) => endpoint))).toEqual(new Set(['revocation']))
    expect((await flow.photos(accessToken)).status).toBe(200)
  })

  test('is 503 while the store fails, so a client knows that the token still exists [revocation-4]', async () => {
    const { flow, store } = stage()
    const { accessToken } = await flow.tokens(photoPrint)
    store.begin('fails', 'remove')
    expect(refusalOf(await flow.revoke(photoPrint, accessToken))).toBe('503 temporarily_unavailable')
    store.recover()
    expectDone(await flow.revoke(photoPrint, accessToken))
  })

  test('works as a mounted part', async () => {
    const { flow } = stage(
      { paths: { revocation: '/connect/forget' } },
      {
        mount: (app, oauth) => {
          app.post('/connect/forget', oauth.clientAuthentication(), oauth.revocation())
          app.use(oauth.router())
          app.get('/photos', oauth.bearerGuard(), (_request, response) => void response.end())
        },
        paths: { revoke: '/connect/forget' },
      },
    )
    const { accessToken } = await flow.tokens(photoPrint)
    expectDone(await flow.revoke(photoPrint, accessToken))
    expect((await flow.photos(accessToken)).status).toBe(401)
  })
})
