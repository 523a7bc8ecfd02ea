import { bent, nightlyReport, photoBook } from '../support/flows/clients'
import { errorPageOf } from '../support/flows/error-page'
import { describeOnStores } from '../support/flows/stores-of-run'
import { authorizationRequest, formOf } from '../support/flows/flow'

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

describeOnStores('The owner is told, and no one is redirected,', (stage) => {
  test.each(refused)('of %s', async (_, request) => {
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
    ['application/json', JSON.stringify(asked)],
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

  test('of trouble in the store of clients, to be tried again', async () => {
    const { flow, failures } = stage({ clients: troubled })
    const response = await flow.ask(asked, 'alice')
    expect(errorPageOf(response)).toBe('503 temporarily_unavailable')
    expect(response.get('Retry-After')).toBe('1')
    expect(failures).toMatchObject([{ reason: 'store_unavailable' }])
  })

  test('on the own page of the host, if it has one', async () => {
    const { flow } = stage({ errorPage: (_request, response, view) => response.json(view) })
    const response = await flow.ask(withClientId(''), 'alice')
    expect(response.status).toBe(400)
    expect(response.headers).not.toHaveProperty('location')
    expect(response.body).toEqual({
      title: expect.any(String),
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
