import { type Hosting, mountPhotos } from '../support/flows/application'
import { bent, photoBook, photoPrint, nightlyReport } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'
import { type Endpoint, type Extension, OAuthError, type TokenType } from '../../lib/index'
import { setStage } from '../support/flows/stage'

describe('error pages', () => {
  const asked = authorizationRequest(photoBook)
  const withClientId = (rest: string): string => `${formOf({ ...asked, client_id: undefined })}&${rest}`

  describeOnStores('The owner gets an error page, and no redirect,', (stage) => {
    test('of a request by POST that is no form, or has its parameters in the query', async () => {
      const { flow } = stage()
      for (const type of ['text/plain', 'application/x-www-form-urlencoded; charset=iso-8859-1'])
        expect(
          errorPageOf(await flow.submit('/authorize', formOf(asked), 'alice', { 'Content-Type': type })),
        ).toBe('400 invalid_request')
      expect(errorPageOf(await flow.submit(`/authorize?${formOf(asked)}`, '', 'alice'))).toBe(
        '400 invalid_request',
      )
    })

    test('on the own page of the host, if it has one', async () => {
      const { flow } = stage({ pages: { error: (_request, response, view) => response.json(view) } })
      const response = await flow.ask(withClientId(''), 'alice')
      expect(response.status).toBe(400)
      expect(response.headers).not.toHaveProperty('location')
      expect(response.body).toMatchObject({
        title: expect.any(String),
        happened: expect.any(String),
        advice: expect.any(String),
        message: 'The parameter client_id is missing.',
        code: 'invalid_request',
        requestId: response.get('X-Request-Id'),
      })
    })

    test('with a request id of the host, which the event has, too', async () => {
      const { flow, failures } = stage(
        {},
        {
          mount: (app, oauth) => {
            app.use((_request, response, next) => next(void response.setHeader('X-Request-Id', 'req-7')))
            app.use(oauth.router())
          },
        },
      )
      const response = await flow.ask(withClientId('client_id=photo-crook'), 'alice')
      expect(response.text).toContain('req-7')
      expect(failures).toMatchObject([
        {
          endpoint: 'authorization',
          code: 'invalid_request',
          reason: 'client_unknown',
          requestId: 'req-7',
          // Not registered: the first digits of its digest.
          clientId: 'e1a2b39b',
        },
      ])
    })
  })
})

describe('a program in place of a browser', () => {
  const asked = authorizationRequest(photoBook)
  const unheardOf = formOf({ ...asked, client_id: 'photo-crook' })
  const accepting = (Accept: string) => ({ Accept })
  const json = accepting('application/json')

  describeOnStores('An error for the owner is JSON where no page is accepted', (stage) => {
    test.each(['application/*', 'application/json, text/html;q=0, */*;q=0.1'])(
      'with Accept: %s',
      async (accept) => {
        const { flow, failures } = stage()
        for (const response of [
          await flow.open(`/authorize?${unheardOf}`, 'alice', accepting(accept)),
          await flow.submit('/authorize', unheardOf, undefined, accepting(accept)),
        ]) {
          expect(refusalOf(response)).toBe('400 invalid_client')
          expect(response.headers).toMatchObject({
            'referrer-policy': 'same-origin',
            'x-frame-options': 'DENY',
            'x-request-id': expect.any(String),
          })
          expect(response.text).not.toContain('photo-crook')
        }
        expect(failures).toMatchObject([{ reason: 'client_unknown' }, { reason: 'client_unknown' }])
      },
    )

    test.each([
      undefined,
      '',
      'text/*',
      'application/json, text/plain, */*',
      'application/json, text/html;q=0.1',
      'image/png',
      ',;=q',
    ])('and a page with Accept: %p', async (accept) => {
      const { flow } = stage()
      const headers = accept === undefined ? {} : accepting(accept)
      const response = await flow.open(`/authorize?${unheardOf}`, 'alice', headers)
      expect(errorPageOf(response)).toBe('400 invalid_request')
    })

    test.each([
      [
        'an ended registration',
        { clients: [bent(photoBook, { disabled: true }).registration] },
        {},
        '400 invalid_client',
      ],
      ['another refusal', {}, { redirect_uri: 'https://evil.example/' }, '400 invalid_request'],
      [
        'a server that fails',
        { clients: { find: () => Promise.reject(new Error('connection refused')) } },
        {},
        '503 temporarily_unavailable',
      ],
    ])('with the code of %s', async (_what, options, bend, refusal) => {
      const { flow } = stage(options)
      const path = `/authorize?${formOf({ ...asked, ...bend })}`
      const response = await flow.open(path, 'alice', json)
      expect(refusalOf(response)).toBe(refusal)
      expect(response.get('Retry-After')).toBe(response.status === 503 ? '1' : undefined)
      expect(errorPageOf(await flow.open(path, 'alice'))).toBe(refusal.replace('_client', '_request'))
    })

    test('with error_uri, and in place of the own page of the host', async () => {
      const { flow } = stage({
        errorUri,
        pages: { error: (_request, response) => response.send('own page') },
      })
      const response = await flow.open(`/authorize?${unheardOf}`, 'alice', json)
      expect(response.body).toEqual({
        error: 'invalid_client',
        error_description: 'The client is not known here.',
        error_uri: `${errorUri}#invalid_client`,
      })
      expect((await flow.ask(unheardOf, 'alice')).text).toBe('own page')
    })

    test('also for a program that sends JSON, which is no request of a client', async () => {
      const { flow } = stage()
      const type = { 'Content-Type': 'application/json' }
      const { status, body } = await flow.submit('/authorize', JSON.stringify(asked), 'alice', type)
      expect([status, body.error]).toEqual([400, 'invalid_request'])
    })
  })
})

const errorUri = 'https://photos.example/docs/errors'

describeOnStores('An error points to the page that explains its code', (stage) => {
  test('in an answer, a redirect and a challenge, where the host has such a page', async () => {
    const { flow } = stage({ errorUri })
    expect((await flow.redeem(photoBook, 'ac_wrong')).body).toMatchObject({
      error: 'invalid_grant',
      error_uri: `${errorUri}#invalid_grant`,
    })
    const asked = { ...authorizationRequest(photoBook), scope: 'unheard-of' }
    const { parameters } = redirectionOf(await flow.ask(asked, 'alice'))
    expect(parameters['error_uri']).toBe(`${errorUri}#invalid_scope`)
    const response = await flow.photos('at_wrong')
    expect(response.get('WWW-Authenticate')?.toString()).toContain(`error_uri="${errorUri}#invalid_token"`)
    expect(response.body.error_uri).toBe(`${errorUri}#invalid_token`)
    expect((await stage().flow.redeem(photoBook, 'ac_wrong')).body).not.toHaveProperty('error_uri')
  })
})

/** A server that its host closes and opens. */
function closable(stage: SetStage) {
  const door = { closed: false }
  return { ...stage({ maintenance: async () => door.closed }), door }
}

describeOnStores('During maintenance', (stage) => {
  test('the token endpoint asks to try again, before it looks at the client, and spends nothing', async () => {
    const { flow, door, failures } = closable(stage)
    const code = await flow.approve(photoBook)
    door.closed = true
    const response = await flow.redeem(photoBook, code)
    expect(refusalOf(response)).toBe('400 temporarily_unavailable')
    expect(response.get('Retry-After')).toBe('1')
    expect(failures).toMatchObject([{ reason: 'maintenance', cause: undefined }])
    door.closed = false
    expect(tokensOf(await flow.redeem(photoBook, code)).scope).toBe('photos:read photos:print')
  })

  test('a decision is not taken, and can be sent again; a request gets the error by redirect, and guards go on', async () => {
    const { flow, door } = closable(stage)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    const { accessToken } = await flow.tokens(photoBook)
    door.closed = true
    expect(errorPageOf(await flow.decide(page, 'approve', 'alice'))).toBe('503 temporarily_unavailable')
    const { parameters } = redirectionOf(await flow.ask(authorizationRequest(photoPrint), 'alice'))
    expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: 'af0ifjsldkj' })
    expect((await flow.photos(accessToken)).status).toBe(200)
    door.closed = false
    expect((await flow.decide(page, 'approve', 'alice')).status).toBe(303)
  })
})

describe('methods', () => {
  const asked = formOf(authorizationRequest(photoBook))

  const inParts: Hosting = {
    mount: (app, oauth) => {
      app.all('/authorize', oauth.authorize())
      app.all('/token', oauth.clientAuthentication(), oauth.token())
      mountPhotos(app, oauth)
    },
  }

  describeOnStores('At the endpoints', (stage) => {
    describe.each([
      ['of the router', {}],
      ['in parts', inParts],
    ])('%s', (_, hosting) => {
      test.each([
        ['/authorize', 'GET, POST'],
        ['/token', 'POST'],
      ])('no other method asks for anything at %s [edge-9, edge-10]', async (path, methods) => {
        const { app } = stage({}, hosting)
        for (const method of ['HEAD', 'OPTIONS', 'PUT', 'TRACE']) {
          const headers = ['X-Owner', 'alice', 'Content-Type', 'application/x-www-form-urlencoded']
          const response = await rawRequest(app, { method, path: `${path}?${asked}`, headers, body: asked })
          const { allow, location } = response.headers
          expect([method, response.status, allow, location]).toEqual([method, 405, methods, undefined])
        }
      })
    })

    test('HEAD of a guarded route is guarded like GET [token-12]', async () => {
      const { app, flow } = stage()
      const { accessToken } = await flow.tokens(photoBook)
      const head = (headers: readonly string[]) =>
        rawRequest(app, { method: 'HEAD', path: '/photos', headers })
      expect((await head([])).status).toBe(401)
      expect((await head(['Authorization', `Bearer ${accessToken}`])).status).toBe(200)
    })
  })
})

describe('Errors of hosts', () => {
  const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

  describe('an OAuthError of a host', () => {
    test('refuses a request at a guard with its own challenge (RFC 9470 3)', async () => {
      const fresh: Extension = {
        name: 'fresh',
        admit() {
          throw new OAuthError('insufficient_user_authentication', 'login_too_old', 'Log in again.', {
            status: 401,
            challenge: { acr_values: 'urn:example:mfa', max_age: '300' },
          })
        },
      }
      const { flow, failures } = setStage({ plugins: [fresh] })
      const { body } = await flow.request(nightlyReport, grant)
      const response = await flow.photos(body.access_token)
      expect([response.status, response.body, response.get('WWW-Authenticate')]).toEqual([
        401,
        { error: 'insufficient_user_authentication', error_description: 'Log in again.' },
        'Bearer realm="oauth", error="insufficient_user_authentication", error_description="Log in again.", acr_values="urn:example:mfa", max_age="300"',
      ])
      expect(failures).toMatchObject([{ reason: 'login_too_old' }])
    })

    test('refuses a request with a token of a type of the host, with its own status and headers', async () => {
      const asks: TokenType = {
        name: 'nonce',
        scheme: 'Nonce',
        read: (accessToken) => ({
          accessToken,
          async rejectReason() {
            throw new OAuthError('use_nonce', 'nonce_missing', 'Send the nonce.', {
              status: 401,
              headers: { 'Nonce-Value': 'n1' },
            })
          },
        }),
      }
      const stamped = bent(nightlyReport, { token_type: 'nonce' })
      const { flow } = setStage({
        plugins: [{ name: 'host-token-types', tokenTypes: [asks] }],
        clients: [stamped.registration],
      })
      const { body } = await flow.request(stamped, grant)
      const response = await flow.open('/photos', undefined, { Authorization: `Nonce ${body.access_token}` })
      expect([response.status, response.get('Nonce-Value'), response.body.error]).toEqual([
        401,
        'n1',
        'use_nonce',
      ])
      // 401 demands a challenge (RFC 9110 15.5.2).
      expect(response.get('WWW-Authenticate')).toContain('Nonce realm="oauth", error="use_nonce"')
    })

    test('answers at an endpoint with its own status, headers and challenge', async () => {
      const answerOf = async (error: OAuthError, headers: Record<string, string> = {}) => {
        const throwing: Endpoint = {
          name: 'me',
          path: '/me',
          method: 'GET',
          clientAuthentication: 'none',
          errorStatus: { access_denied: 404 },
          async handle() {
            throw error
          },
        }
        const response = await setStage({
          plugins: [{ name: 'host-endpoints', endpoints: [throwing] }],
        }).flow.open('/me', undefined, headers)
        return [response.status, response.get('WWW-Authenticate'), response.get('X-Why')]
      }
      const tooLittle = new OAuthError('insufficient_scope', 'own_reason', 'Too little.', {
        status: 403,
        challenge: { scope: 'profile' },
      })
      expect(await answerOf(tooLittle, { Authorization: 'Bearer x' })).toEqual([
        403,
        'Bearer realm="oauth", scope="profile", error="insufficient_scope"',
        undefined,
      ])
      expect(await answerOf(tooLittle)).toEqual([403, 'Bearer realm="oauth", scope="profile"', undefined])
      const denied = (options: object) => answerOf(new OAuthError('access_denied', 'own', 'No.', options))
      expect(await denied({})).toEqual([404, undefined, undefined])
      expect(await denied({ status: 403, headers: { 'X-Why': 'own' } })).toEqual([403, undefined, 'own'])
      expect(await denied({ status: 401 })).toEqual([401, 'Bearer realm="oauth"', undefined])
    })
  })
})
