import { type Hosting, mountPhotos } from '../support/flows/application'
import { bent, photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, formOf, redemption } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

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
  const others = ['HEAD', 'OPTIONS', 'PUT', 'TRACE']
  const form = ['Content-Type', 'application/x-www-form-urlencoded']

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
      test('no other method asks for anything [edge-10]', async () => {
        const { app } = stage({}, hosting)
        for (const method of others) {
          const headers = ['X-Owner', 'alice', ...form]
          const path = `/authorize?${asked}`
          const response = await rawRequest(app, { method, path, headers, body: asked })
          const { allow, location } = response.headers
          expect([method, response.status, allow, location]).toEqual([method, 405, 'GET, POST', undefined])
        }
      })

      test('no other method gets tokens or spends anything [edge-9]', async () => {
        const { app, flow } = stage({}, hosting)
        const code = await flow.approve(photoBook)
        const grant = formOf({ ...redemption(photoBook, code), client_id: 'photo-book' })
        for (const method of [...others, 'GET'])
          for (const path of ['/token', `/token?${grant}`]) {
            const response = await rawRequest(app, { method, path, headers: form, body: grant })
            const { allow, 'cache-control': cache } = response.headers
            expect([method, response.status, allow, cache]).toEqual([method, 405, 'POST', 'no-store'])
          }
        tokensOf(await flow.redeem(photoBook, code))
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
