import type { Request, Response } from 'express'
import helmet from 'helmet'
import request from 'supertest'
import { authorizationRequest, consentTokenIn } from '../support/rooms/consent-form'
import { hostWith } from '../support/rooms/host'
import { callback, printer } from '../support/rooms/registrations'
import { answerOf } from '../support/rooms/status'

const ask = (host: ReturnType<typeof hostWith>, bend: object = {}) =>
  request(host.app)
    .get('/authorize')
    .query({ ...authorizationRequest, ...bend })

const mine = (_request: Request, response: Response, _view: object) => response.send('mine')

const isPrivate = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

describe('pages of the suite', () => {
  it.each([
    ['the consent page', {}, 200],
    ['the error page', { client_id: 'nobody' }, 400],
  ])('%s is private, and runs no script [consent-22]', async (_which, bend, status) => {
    const { status: answered, headers } = await ask(hostWith(), bend)
    expect(answered).toBe(status)
    expect(headers).toMatchObject({ ...isPrivate, 'content-type': 'text/html; charset=utf-8' })
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; img-src 'self' https:; form-action .+; frame-ancestors 'none'; base-uri 'none'$/,
    )
  })

  it.each([
    ['https', [callback], "'self' https:"],
    ['loopback', ['http://127.0.0.1:8080/cb'], "'self' https: http:"],
    ['an application on the phone', ['com.example.app:/cb'], "'self' https: com.example.app:"],
  ])('lets the form of a client at %s end there', async (_where, redirect_uris, sources) => {
    const host = hostWith({ clients: [{ ...printer, redirect_uris }] })
    const { headers } = await ask(host, { redirect_uri: redirect_uris[0] })
    expect(headers['content-security-policy']).toContain(`; form-action ${sources};`)
  })

  it('lets no form of an error page go anywhere', async () => {
    const { headers } = await ask(hostWith(), { client_id: 'nobody' })
    expect(headers['content-security-policy']).toContain("; form-action 'none';")
  })

  it('replace what helmet says, once', async () => {
    const host = hostWith({}, (app, oauth) => app.use(helmet(), oauth.router()))
    const { headers } = await ask(host)
    expect(headers).toMatchObject(isPrivate)
    expect(headers['content-security-policy']).not.toContain('script-src')
  })

  it('count their bytes', async () => {
    const host = hostWith({ clients: [{ ...printer, client_name: 'Фото 🖨' }] })
    const { text, headers } = await ask(host)
    expect(text).toContain('Фото 🖨')
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
  })

  it('name a scope by its description', async () => {
    expect((await ask(hostWith())).text).toContain('See your photos')
  })
})

describe('a consent page of the host', () => {
  it('gets no more of the registration than a page shows: no digest of a secret', async () => {
    const host = hostWith({ pages: { consent: (_request, response, view) => response.json(view) } })
    const { body, text } = await ask(host)
    expect(body.client).toEqual({ client_id: printer.client_id, client_name: printer.client_name })
    expect(text).not.toContain('sha256:')
  })

  it('gets the view, and answers under private headers', async () => {
    const consentPage = jest.fn(mine)
    const { status, text, headers } = await ask(hostWith({ pages: { consent: consentPage } }))
    expect({ status, text }).toEqual({ status: 200, text: 'mine' })
    expect(headers).toMatchObject(isPrivate)
    expect(headers).not.toHaveProperty('content-security-policy')
    expect(consentPage.mock.calls[0]?.[2]).toEqual({
      service: {},
      language: { tag: 'en', dir: 'ltr' },
      client: expect.objectContaining({ client_id: printer.client_id, client_name: 'Photo Printer' }),
      resourceOwner: { subject: 'alice', name: 'Alice' },
      switchAccount: expect.stringMatching(/^\?.*&prompt=select_account$/),
      scope: [
        { token: 'photos.read', description: 'See your photos', weight: 'read', allowedBefore: false },
      ],
      facts: [],
      action: '?',
      fields: { authorization_request: expect.stringMatching(/^ar_[A-Za-z0-9_-]{64}$/) },
      redirectTo: callback,
      receiver: 'web',
    })
  })

  it('may take its time', async () => {
    const host = hostWith({
      pages: {
        consent: async (_request, response) => {
          await new Promise((resolve) => setTimeout(resolve, 20))
          response.send('later')
        },
      },
    })
    expect((await ask(host)).text).toBe('later')
  })

  it.each([
    [
      'throws',
      () => {
        throw new TypeError('no template')
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('no template'))],
  ])(
    'that %s is reported to the host, and the client gets the error by redirect',
    async (_what, consentPage) => {
      const host = hostWith({ pages: { consent: consentPage } })
      const { status, headers } = await ask(host)
      expect(status).toBe(303)
      expect(headers['location']).toMatch(/^https:\/\/printer\.example\/callback\?error=server_error&/)
      expect(host.failures).toEqual([
        expect.objectContaining({ code: 'server_error', cause: new TypeError('no template') }),
      ])
      expect(host.errors).toEqual([])
    },
  )

  it('that breaks after it has answered is reported with what broke it, and goes to the error handling of the host', async () => {
    const cause = new TypeError('after the answer')
    const host = hostWith({
      pages: {
        consent: (_request, response) => {
          response.send('mine')
          throw cause
        },
      },
    })
    expect(await answerOf(ask(host))).toEqual({ status: 200, text: 'mine' })
    expect(host.failures).toEqual([expect.objectContaining({ code: 'server_error', cause })])
    expect(host.errors).toEqual([cause])
  })

  it('sends a decision that the suite takes', async () => {
    const host = hostWith({
      pages: { consent: (_request, response, view) => response.json(view.fields) },
    })
    const { body } = await ask(host)
    const { headers } = await request(host.app)
      .post('/authorize')
      .type('form')
      .send({ ...body, decision: 'approve' })
    expect(headers['location']).toMatch(/^https:\/\/printer\.example\/callback\?code=ac_/)
  })
})

describe('an error page of the host', () => {
  it('gets the view, and answers under status and private headers', async () => {
    const errorPage = jest.fn(mine)
    const { status, text, headers } = await ask(hostWith({ pages: { error: errorPage } }), {
      client_id: 'nobody',
    })
    expect({ status, text }).toEqual({ status: 400, text: 'mine' })
    expect(headers).toMatchObject(isPrivate)
    expect(errorPage.mock.calls[0]?.[2]).toEqual({
      title: 'This request cannot go on',
      happened: 'The app is not known here, or is blocked.',
      advice: 'If you trust the app, tell its makers about it. Otherwise, close this page.',
      service: {},
      language: { tag: 'en', dir: 'ltr' },
      message: 'The client is not known here.',
      code: 'invalid_request',
      requestId: headers['x-request-id'],
    })
  })

  it('says when it is worth another try', async () => {
    const down = { find: () => Promise.reject(new Error('down')) }
    const errorPage = jest.fn(mine)
    for (const bend of [{}, { pages: { error: errorPage } }]) {
      const { status, headers } = await ask(hostWith({ clients: down, ...bend }))
      expect({ status, wait: headers['retry-after'] }).toEqual({ status: 503, wait: '1' })
    }
    expect(errorPage.mock.calls[0]?.[2]).toMatchObject({
      title: 'This is not possible right now',
      code: 'temporarily_unavailable',
    })
  })

  it('that throws goes to the error handling of the host', async () => {
    const host = hostWith({
      pages: {
        error: () => {
          throw new TypeError('no template')
        },
      },
    })
    expect(await answerOf(ask(host, { client_id: 'nobody' }))).toEqual({
      status: 500,
      text: "the host's page",
    })
    expect(host.errors).toEqual([new TypeError('no template')])
  })
})

describe('the form of the consent page', () => {
  it('names the consent token and nothing of the request', async () => {
    const [text = ''] =
      /<form.*<\/form>/s.exec((await ask(hostWith())).text.replace(/<a href="\?[^"]*"/, '')) ?? []
    expect(consentTokenIn(text)).toMatch(/^ar_/)
    expect(text).not.toContain(authorizationRequest.state)
  })
})
