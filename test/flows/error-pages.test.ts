import { type Hosting, mountPhotos } from '../support/flows/application'
import { bent, nightlyReport, photoBook, photoPrint } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { authorizationRequest, formOf, redemption } from '../support/flows/flow'
import { rawRequest } from '../support/flows/raw-request'
import { redirectionOf } from '../support/flows/redirection'
import { describeOnStores, type SetStage } from '../support/flows/stores-of-run'
import { refusalOf, tokensOf } from '../support/flows/tokens'

describe('error pages', () => {
  const asked = authorizationRequest(photoBook)
  const uri = 'https://book.example/callback'
  const withClientId = (rest: string): string => `${formOf({ ...asked, client_id: undefined })}&${rest}`
  const withUri = (rest: string): string => `${formOf({ ...asked, redirect_uri: undefined })}&${rest}`
  const several = bent(photoBook, { redirect_uris: [uri, 'https://book.example/other'] })

  const troubled = { find: () => Promise.reject(new Error('connection refused')) }

  const refused: readonly [string, string][] = [
    ['no client_id', withClientId('')],
    ['an empty client_id', withClientId('client_id=')],
    ['an unknown client_id', withClientId('client_id=photo-crook')],
    ['a client_id in another case', withClientId('client_id=Photo-Book')],
    ['a client_id with a space behind it', withClientId('client_id=photo-book+')],
    ['a client_id that is a name of JavaScript', withClientId('client_id=__proto__')],
    ['a repeated client_id', withClientId('client_id=photo-book&client_id=photo-book')],
    ['a client_id that is not UTF-8', withClientId('client_id=photo-book%FF')],
    ['a client_id in brackets only', withClientId('client_id[]=photo-book')],
    ['a redirect_uri of someone else', withUri('redirect_uri=https://evil.example/callback')],
    ['a redirect_uri in another case', withUri('redirect_uri=https://BOOK.example/callback')],
    ['a redirect_uri with a slash more', withUri(`redirect_uri=${uri}/`)],
    ['a redirect_uri with a query more', withUri(`redirect_uri=${uri}%3Fa=b`)],
    ['a redirect_uri with a fragment', withUri(`redirect_uri=${uri}%23a`)],
    ['a redirect_uri with a port more', withUri('redirect_uri=https://book.example:443/callback')],
    ['a redirect_uri of another client', withUri('redirect_uri=https://print.example/callback')],
    ['a relative redirect_uri', withUri('redirect_uri=/callback')],
    ['a script as redirect_uri', withUri('redirect_uri=javascript:alert(1)')],
    ['a repeated redirect_uri', withUri(`redirect_uri=${uri}&redirect_uri=${uri}`)],
    ['a redirect_uri that is not UTF-8', withUri(`redirect_uri=${uri}%FF`)],
  ]

  describeOnStores('The owner gets an error page, and no redirect,', (stage) => {
    test.each(refused)('for %s', async (_, request) => {
      const { flow, store } = stage()
      for (const owner of ['alice', undefined]) {
        expect(errorPageOf(await flow.ask(request, owner))).toBe('400 invalid_request')
        expect(errorPageOf(await flow.submit('/authorize', request, owner))).toBe('400 invalid_request')
      }
      expect(store.calls.save).toBe(0)
    })

    test.each(['', 'redirect_uri=', 'redirect_uri[]=https://book.example/callback'])(
      'of no redirect_uri where several are registered: %p',
      async (rest) => {
        const { flow } = stage({ clients: [several.registration] })
        expect(errorPageOf(await flow.ask(withUri(rest), 'alice'))).toBe('400 invalid_request')
      },
    )

    test.each(['', `&redirect_uri=${uri}`])(
      'of a client without a registered redirect_uri: %p',
      async (rest) => {
        const { flow } = stage()
        const { client_id } = nightlyReport.registration
        const response = await flow.ask(
          `response_type=code&client_id=${client_id}&scope=photos:read${rest}`,
          'alice',
        )
        expect(errorPageOf(response)).toBe('400 invalid_request')
      },
    )

    test.each([
      ['text/plain', formOf(asked)],
      ['multipart/form-data; boundary=x', '--x\r\n\r\n--x--'],
      ['application/x-www-form-urlencoded; charset=iso-8859-1', formOf(asked)],
    ])('of a request by POST in %s', async (type, body) => {
      const { flow } = stage()
      const response = await flow.submit('/authorize', body, 'alice', { 'Content-Type': type })
      expect(errorPageOf(response)).toBe('400 invalid_request')
    })

    test('of a request by POST that has its parameters in the query', async () => {
      const { flow } = stage()
      const response = await flow.submit(`/authorize?${formOf(asked)}`, '', 'alice')
      expect(errorPageOf(response)).toBe('400 invalid_request')
    })

    test('for a failing store of clients, to be tried again', async () => {
      const { flow, failures } = stage({ clients: troubled })
      const response = await flow.ask(asked, 'alice')
      expect(errorPageOf(response)).toBe('503 temporarily_unavailable')
      expect(response.get('Retry-After')).toBe('1')
      expect(failures).toMatchObject([{ reason: 'store_unavailable' }])
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
    test.each(['application/json', 'application/*', 'application/json, text/html;q=0, */*;q=0.1'])(
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
      '*/*',
      'text/html',
      'text/*',
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
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

    test('with the code that means an ended registration', async () => {
      const disabled = bent(photoBook, { disabled: true }).registration
      const { flow } = stage({ clients: [disabled] })
      const response = await flow.open(`/authorize?${formOf(asked)}`, 'alice', json)
      expect(refusalOf(response)).toBe('400 invalid_client')
    })

    test('with the code of the page for other refusals', async () => {
      const { flow } = stage()
      const elsewhere = formOf({ ...asked, redirect_uri: 'https://evil.example/' })
      const response = await flow.open(`/authorize?${elsewhere}`, 'alice', json)
      expect(refusalOf(response)).toBe('400 invalid_request')
    })

    test('with Retry-After, where the server fails', async () => {
      const troubled = { find: () => Promise.reject(new Error('connection refused')) }
      const { flow } = stage({ clients: troubled })
      const response = await flow.open(`/authorize?${formOf(asked)}`, 'alice', json)
      expect(refusalOf(response)).toBe('503 temporarily_unavailable')
      expect(response.get('Retry-After')).toBe('1')
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

    test('while a valid request gets the view of the consent page', async () => {
      const { flow } = stage()
      const response = await flow.open(`/authorize?${formOf(asked)}`, 'alice', json)
      expect([response.status, response.body.client.client_id]).toEqual([200, asked.client_id])
    })
  })
})

const errorUri = 'https://photos.example/docs/errors'

describeOnStores('An error points to the page that explains its code', (stage) => {
  test('at the token endpoint', async () => {
    const { flow } = stage({ errorUri })
    const { body } = await flow.redeem(photoBook, 'ac_wrong')
    expect(body).toMatchObject({ error: 'invalid_grant', error_uri: `${errorUri}#invalid_grant` })
  })

  test('in a redirect', async () => {
    const { flow } = stage({ errorUri })
    const asked = { ...authorizationRequest(photoBook), scope: 'unheard-of' }
    expect(redirectionOf(await flow.ask(asked, 'alice')).parameters).toMatchObject({
      error: 'invalid_scope',
      error_uri: `${errorUri}#invalid_scope`,
    })
  })

  test('in the challenge of a guard', async () => {
    const { flow } = stage({ errorUri })
    const response = await flow.photos('at_wrong')
    expect(response.get('WWW-Authenticate')?.toString()).toContain(`error_uri="${errorUri}#invalid_token"`)
    expect(response.body.error_uri).toBe(`${errorUri}#invalid_token`)
  })

  test('and to none where the host has no such page', async () => {
    const { flow } = stage()
    expect((await flow.redeem(photoBook, 'ac_wrong')).body).not.toHaveProperty('error_uri')
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

  test('the client gets the error by redirect, and no request is stored', async () => {
    const { flow, door, store } = closable(stage)
    door.closed = true
    const asked = authorizationRequest(photoPrint)
    const { parameters } = redirectionOf(await flow.ask(asked, 'alice'))
    expect(parameters).toMatchObject({ error: 'temporarily_unavailable', state: asked.state })
    expect(store.calls.save).toBe(0)
  })

  test('a decision is not taken, and can be sent again', async () => {
    const { flow, door } = closable(stage)
    const page = await flow.ask(authorizationRequest(photoBook), 'alice')
    door.closed = true
    expect(errorPageOf(await flow.decide(page, 'approve', 'alice'))).toBe('503 temporarily_unavailable')
    door.closed = false
    expect((await flow.decide(page, 'approve', 'alice')).status).toBe(303)
  })

  test('guards go on', async () => {
    const { flow, door } = closable(stage)
    const { accessToken } = await flow.tokens(photoBook)
    door.closed = true
    expect((await flow.photos(accessToken)).status).toBe(200)
  })
})

describe('methods', () => {
  const asked = formOf(authorizationRequest(photoBook))
  const others = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE']
  const nothing = { find: 0, save: 0, remove: 0 }
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
      test.each(others)('%s asks for nothing: no record comes of it [edge-10]', async (method) => {
        const { app, store } = stage({}, hosting)
        const headers = ['X-Owner', 'alice', ...form]
        const response = await rawRequest(app, { method, path: `/authorize?${asked}`, headers, body: asked })
        expect(response.status).toBe(405)
        expect(response.headers.allow).toBe('GET, POST')
        expect(response.headers.location).toBeUndefined()
        expect(store.calls).toEqual(nothing)
      })

      test.each([...others, 'GET'])('%s gets no tokens, and spends nothing [edge-9]', async (method) => {
        const { app, store, flow } = stage({}, hosting)
        const code = await flow.approve(photoBook)
        const before = { ...store.calls }
        const grant = formOf({ ...redemption(photoBook, code), client_id: 'photo-book' })
        for (const path of ['/token', `/token?${grant}`]) {
          const response = await rawRequest(app, { method, path, headers: form, body: grant })
          expect(response.status).toBe(405)
          expect(response.headers.allow).toBe('POST')
          expect(response.headers['cache-control']).toBe('no-store')
        }
        expect(store.calls).toEqual(before)
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
