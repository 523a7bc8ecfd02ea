import type { ErrorRequestHandler, Response } from 'express'
import helmet from 'helmet'
import { type AuthorizationServerOptions, OAuthError, temporarilyUnavailable } from '../../lib/index'
import { deviceAuthorization } from '../../lib/paths/devices'
import { application, type Mount } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { authorizationRequest, formOf } from '../support/flows/flow'
import { deviceSecret } from '../support/flows/device-stage'
import { redirectionOf } from '../support/flows/redirection'

const asked = authorizationRequest(photoBook)
const unknown = { ...asked, client_id: 'nobody' }
const isPrivate = {
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
const broken = new TypeError('no template')
const fails = () => {
  throw broken
}

/** A host with error handling of its own, which keeps what it gets. */
function hosting(options: Partial<AuthorizationServerOptions>) {
  const errors: unknown[] = []
  const own: ErrorRequestHandler = (error, _request, response, next) => {
    errors.push(error)
    if (response.headersSent) next(error)
    else response.status(500).send('of the host')
  }
  const mount: Mount = (app, oauth) => app.use(oauth.router(), own)
  return { ...application(options, { mount }), errors }
}

describe('A consent page of the host', () => {
  test('gets all that a page shows and no digest of a secret, and answers under private headers', async () => {
    const { flow } = hosting({
      resourceOwner: () => ({ subject: 'alice', name: 'Alice' }),
      pages: { consent: (_request, response, view) => response.json(view) },
    })
    const { status, headers, body } = await flow.ask({ ...asked, scope: 'photos:read' })
    expect(status).toBe(200)
    expect(headers).toMatchObject(isPrivate)
    expect(headers).not.toHaveProperty('content-security-policy')
    expect(body).toEqual({
      service: {},
      language: { tag: 'en', dir: 'ltr' },
      client: { client_id: 'photo-book', client_name: 'Photo Book' },
      resourceOwner: { subject: 'alice', name: 'Alice' },
      switchAccount: expect.stringMatching(/^\?.*&prompt=select_account$/),
      scope: [{ token: 'photos:read', description: 'See your photos', weight: 'read', allowedBefore: false }],
      facts: [],
      action: '?',
      fields: { authorization_request: expect.stringMatching(/^ar_[A-Za-z0-9_-]{65}$/) },
      redirectTo: 'https://book.example/callback',
      receiver: 'web',
    })
  })

  test.each([
    ['throws', fails],
    ['rejects later', () => new Promise((_resolve, reject) => setImmediate(reject, broken))],
  ])('that %s is reported to the host, and the client gets server_error', async (_how, consent) => {
    const { flow, errors, failures } = hosting({ pages: { consent } })
    const { parameters } = redirectionOf(await flow.ask(asked, 'alice'))
    expect(parameters).toMatchObject({ error: 'server_error', state: asked.state })
    expect([failures, errors]).toMatchObject([[{ code: 'server_error', cause: broken }], []])
  })

  test('that breaks after its answer goes to the error handling of the host, and is reported', async () => {
    const consent = (_request: unknown, response: Response) => {
      response.send('mine')
      throw broken
    }
    const { flow, errors, failures } = hosting({ pages: { consent } })
    expect((await flow.ask(asked, 'alice')).text).toBe('mine')
    expect([failures, errors]).toMatchObject([[{ code: 'server_error', cause: broken }], [broken]])
  })
})

describe('An error page of the host', () => {
  const json: NonNullable<AuthorizationServerOptions['pages']> = {
    error: (_request, response, view) => response.json(view),
  }

  test('gets what a person needs to know, and answers under status and private headers', async () => {
    const { flow } = hosting({ pages: json })
    const { status, headers, body } = await flow.ask(unknown)
    expect(status).toBe(400)
    expect(headers).toMatchObject(isPrivate)
    expect(body).toEqual({
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

  test('learns that another try is worth it, when the server fails', async () => {
    const clients = { find: () => Promise.reject(new Error('down')) }
    const { status, headers, body } = await hosting({ pages: json, clients }).flow.ask(asked)
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    expect(body).toMatchObject({
      title: 'This is not possible right now',
      code: 'temporarily_unavailable',
    })
  })

  test('that throws goes to the error handling of the host', async () => {
    const { flow, errors } = hosting({ pages: { error: fails } })
    const { status, text } = await flow.ask(unknown)
    expect([status, text, errors]).toEqual([500, 'of the host', [broken]])
  })

  test('has the status and the headers of an error of the host, and no challenge', async () => {
    const denied = new OAuthError('access_denied', 'own_reason', 'No.', {
      status: 403,
      headers: { 'X-Why': 'own' },
    })
    const own = { kind: 'page', name: 'own', path: '/own', handle: () => Promise.reject(denied) } as const
    const { status, headers, text } = await hosting({
      plugins: [{ name: 'host-endpoints', endpoints: [own] }],
    }).flow.open('/own', 'alice')
    expect([status, headers['x-why'], headers['www-authenticate']]).toEqual([403, 'own', undefined])
    expect(text).toContain('The request cannot be carried out.')
  })
})

test.each([
  ['authorization_request_expired', false, 'This page is too old'],
  ['authorization_request_of_another_owner', false, 'This question was for another account'],
  ['owner_not_hinted', false, 'This question was for another account'],
  ['owner_not_logged_in', false, 'You are not signed in any more'],
  ['login_loop', false, 'Your sign-in did not reach this page'],
  ['client_unknown', false, 'The app is not known here'],
  ['client_document_unreachable', true, 'What the app says about itself could not be read'],
  ['redirect_uri_mismatch', false, 'The app sent a request that is not right'],
  ['parameter_missing', false, 'The app sent a request that is not right'],
  ['rate_limited', true, 'There were too many attempts'],
  ['store_unavailable', true, 'Something here does not work'],
  ['decision_cross_site', false, 'Another site sent this answer'],
  ['decision_unknown', false, 'Your answer did not arrive'],
  ['tls_required', false, 'The connection to this page is not encrypted'],
  ['reason_of_a_host', false, 'The request cannot be carried out'],
  ['reason_of_a_host', true, 'Something here does not work'],
  ['constructor', false, 'The request cannot be carried out'],
])('The reason %s (trouble: %s) is explained: %s', async (reason, isTrouble, explanation) => {
  const error = isTrouble ? temporarilyUnavailable(reason, 'x') : new OAuthError('access_denied', reason, 'x')
  const own = { kind: 'page', name: 'own', path: '/own', handle: () => Promise.reject(error) } as const
  expect(
    (await hosting({ plugins: [{ name: 'host-endpoints', endpoints: [own] }] }).flow.open('/own', 'alice'))
      .text,
  ).toContain(explanation)
})

describe('The option pages.popups', () => {
  /** What a response of a host behind helmet says of its opener. */
  function opening(popups: boolean) {
    const mount: Mount = (app, oauth) => app.use(helmet(), oauth.router())
    const { flow } = application(
      { authorizations: {}, pages: { popups }, plugins: [deviceAuthorization({ secret: deviceSecret })] },
      { mount },
    )
    return async (path: string, owner?: string) => {
      const { status, headers } = await flow.open(path, owner)
      return `${status} ${headers['cross-origin-opener-policy']}`
    }
  }
  const query = formOf(asked)

  test.each<[string, boolean, string, string | undefined, string]>([
    ['the consent page', true, `/authorize?${query}`, 'alice', '200 unsafe-none'],
    ['the way to the login', true, `/authorize?${query}`, undefined, '303 unsafe-none'],
    ['an error by redirect', true, `/authorize?${query}&prompt=none`, undefined, '303 unsafe-none'],
    ['the error page', true, '/authorize?client_id=x', 'alice', '400 same-origin'],
    ['the page of connected applications', true, '/authorizations', 'alice', '200 same-origin'],
    ['the page of devices', true, '/device', 'alice', '200 same-origin'],
    ['the metadata', true, '/.well-known/oauth-authorization-server', undefined, '200 same-origin'],
    ['the consent page without the option', false, `/authorize?${query}`, 'alice', '200 same-origin'],
    ['the login without the option', false, `/authorize?${query}`, undefined, '303 same-origin'],
  ])('says of %s', async (_what, popups, path, owner, expected) => {
    expect(await opening(popups)(path, owner)).toBe(expected)
  })
})

test('The count of a middleware of the host stays on the request', async () => {
  const kept: unknown[] = []
  const { flow } = application(
    {},
    {
      mount: (host, oauth) =>
        host.use((incoming, response, next) => {
          Object.assign(incoming, { rateLimit: 'of the host' })
          response.on('finish', () => kept.push(Reflect.get(incoming, 'rateLimit')))
          next()
        }, oauth.router()),
    },
  )
  await flow.open('/authorize')
  expect(kept).toEqual(['of the host'])
})
