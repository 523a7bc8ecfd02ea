import express from 'express'
import request from 'supertest'
import type { AuthorizationStore } from '../../lib/authorization/store'
import { basic } from '../support/rooms/credentials'
import { catchErrors, hostWith } from '../support/rooms/host'
import { printer, printerSecret } from '../support/rooms/registrations'
import { statusOf } from '../support/rooms/status'
import { beginAndHangUp, chunk, exchangeBytes, formHead, onTheWire } from '../support/rooms/wire'
import { waitUntil } from '../support/wait-until'

const grant = { grant_type: 'client_credentials', scope: 'photos.read' }
const ask = (host: ReturnType<typeof hostWith>, body: object = grant, secret = printerSecret) =>
  request(host.app).post('/token').auth(printer.client_id, secret).type('form').send(body)

const always = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
}

describe('the token endpoint: answers', () => {
  it('are JSON that is not cached (RSP-1, RSP-5)', async () => {
    const { status, headers, text } = await ask(hostWith())
    expect(status).toBe(200)
    expect(headers).toMatchObject({ ...always, 'content-length': String(Buffer.byteLength(text)) })
    expect(headers).not.toHaveProperty('etag')
  })

  it.each<[string, object, string, number, object]>([
    ['invalid_client', grant, 'wrong', 401, { 'www-authenticate': 'Basic realm="oauth", charset="UTF-8"' }],
    ['unsupported_grant_type', { grant_type: 'x' }, printerSecret, 400, {}],
    ['invalid_request', {}, printerSecret, 400, {}],
    ['invalid_scope', { ...grant, scope: 'x' }, printerSecret, 400, {}],
  ])('are so for %s, too (TER-1, TER-2)', async (error, body, secret, status, further) => {
    const response = await ask(hostWith(), body, secret)
    expect(response.status).toBe(status)
    expect(response.headers).toMatchObject({ ...always, ...further })
    expect(response.body).toEqual({ error, error_description: expect.any(String) })
    expect('www-authenticate' in response.headers).toBe(status === 401)
  })

  it.each<[string, number, string | undefined, AuthorizationStore['save']]>([
    ['temporarily_unavailable', 400, '1', () => Promise.reject(new Error('down'))],
    ['server_error', 500, undefined, async () => false],
  ])('are so for %s, without detail (TER-3)', async (error, status, wait, save) => {
    const store: AuthorizationStore = { find: async () => undefined, save, remove: async () => undefined }
    const response = await ask(hostWith({ store }))
    expect(response.status).toBe(status)
    expect(response.headers).toMatchObject(always)
    expect(response.headers['retry-after']).toBe(wait)
    expect(response.body).toEqual({ error, error_description: expect.any(String) })
    expect(response.text).not.toMatch(/down|random/)
  })

  it('challenge a client that sent its credentials in the body, too', async () => {
    const response = await request(hostWith().app)
      .post('/token')
      .type('form')
      .send({ ...grant, client_id: 'x', client_secret: 'y' })
    expect(response.status).toBe(401)
    expect(response.headers['www-authenticate']).toMatch(/^Basic /)
  })
})

describe('the token endpoint: requests', () => {
  it.each(['get', 'head', 'put', 'patch', 'delete', 'options'] as const)(
    'refuses %s (TOK-1)',
    async (method) => {
      const host = hostWith()
      const response = await request(host.app)[method]('/token').query(grant)
      expect(response.status).toBe(405)
      expect(response.headers).toMatchObject({ ...always, allow: 'POST' })
    },
  )

  it('reads parameters from the body only (TOK-3)', async () => {
    const host = hostWith()
    const response = await request(host.app)
      .post('/token')
      .query(grant)
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send({})
    expect(response.body).toMatchObject({ error: 'invalid_request' })
  })

  it('ignores an access token in the body and other unknown parameters (EPT-3)', async () => {
    expect(await statusOf(ask(hostWith(), { ...grant, access_token: 'x', resource: ['a', 'b'] }))).toBe(200)
  })

  it('refuses two Authorization headers, though the first is good', async () => {
    const answer = await onTheWire(hostWith().app, (open) => {
      const body = new URLSearchParams(grant).toString()
      const good = `Authorization: ${basic(printer.client_id, printerSecret)}`
      const head = formHead('/token', good, 'Authorization: Basic eDp5', `Content-Length: ${body.length}`)
      return exchangeBytes(open(), [head, body])
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*"error":"invalid_request"/s)
  })

  it('hangs up on a client whose body is too large, after the answer', async () => {
    const answer = await onTheWire(hostWith().app, (open) => {
      const head = formHead('/token', 'Transfer-Encoding: chunked').replace('Connection: close\r\n', '')
      return exchangeBytes(open(), [head, chunk(Buffer.alloc(70_000, 'a'))])
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toMatch(/^Connection: close\r$/m)
    expect(answer).toContain('The body is larger than 64 KiB.')
  })

  it('reports a client that hangs up as a fault of the client, not of the server', async () => {
    const arrived: unknown[] = []
    const { app, failures } = hostWith({}, (host, oauth) =>
      host.use((req, _response, next) => {
        arrived.push(req)
        next()
      }, oauth.router()),
    )
    await onTheWire(app, async (open) => {
      const part = `${formHead('/token', 'Content-Length: 1000')}grant_type=`
      await beginAndHangUp(open(), part, () => arrived.length > 0)
      await waitUntil('the failure is reported', async () => failures.length > 0)
    })
    expect(failures).toEqual([
      expect.objectContaining({ code: 'invalid_request', reason: 'body_aborted', cause: undefined }),
    ])
  })
})

describe('the token endpoint: parts', () => {
  it('passes a proven client on to the next middleware', async () => {
    const host = hostWith({}, (app, oauth) =>
      app.post(
        '/mine',
        oauth.clientAuthentication(),
        (req, response) => void response.json({ user: req.user ?? 'untouched' }),
      ),
    )
    const { body } = await request(host.app)
      .post('/mine')
      .auth(printer.client_id, printerSecret)
      .type('form')
      .send({})
    expect(body).toEqual({ user: 'untouched' })
  })

  it('hands on what a later middleware throws', async () => {
    const broken = new Error('of the host')
    const host = hostWith({}, (app, oauth) =>
      app.post('/mine', oauth.clientAuthentication(), () => {
        throw broken
      }),
    )
    expect(
      await statusOf(
        request(host.app).post('/mine').auth(printer.client_id, printerSecret).type('form').send({}),
      ),
    ).toBe(500)
    expect(host.errors).toEqual([broken])
    expect(host.failures).toEqual([])
  })

  it('issues nothing without client authentication before it, and says what the host must mount [client-27]', async () => {
    const host = hostWith({}, (app, oauth) => app.post('/token', oauth.token()))
    const response = await ask(host)
    expect(response.status).toBe(500)
    expect(response.body).toHaveProperty('error', 'server_error')
    expect(String(host.failures[0]?.cause)).toContain('mount oauth.clientAuthentication() before it')
  })

  it('takes nothing that the host wrote onto the request for a proven client [client-26]', async () => {
    const host = hostWith({}, (app, oauth) => {
      app.use((req, _response, next) => {
        Object.assign(req, { user: printer, client: printer, oauth: { client: printer } })
        next()
      })
      app.post('/token', oauth.token())
    })
    expect(await statusOf(ask(host))).toBe(500)
  })

  it('works from parts as from the router', async () => {
    const host = hostWith({}, (app, oauth) => app.post('/token', oauth.clientAuthentication(), oauth.token()))
    expect(await statusOf(ask(host))).toBe(200)
    expect(await statusOf(ask(host, grant, 'wrong'))).toBe(401)
  })

  it('works in an application in an application', async () => {
    const { app } = hostWith()
    const outer = express().use('/inner', app)
    catchErrors(outer)
    expect(
      await statusOf(
        request(outer).post('/inner/token').auth(printer.client_id, printerSecret).type('form').send(grant),
      ),
    ).toBe(200)
  })
})
