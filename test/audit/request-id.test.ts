import type { RequestHandler } from 'express'
import request from 'supertest'
import { hostWith } from '../support/rooms/host'

const hostOf = (...before: RequestHandler[]) =>
  hostWith({}, (app, oauth) => app.use(...before, oauth.router()))

const idOnRequest =
  (id: unknown): RequestHandler =>
  (req, _response, next) => {
    Object.assign(req, { id })
    next()
  }
const idOnResponse =
  (id: string): RequestHandler =>
  (_request, response, next) => {
    response.setHeader('X-Request-Id', id)
    next()
  }

describe('the id of a request', () => {
  it.each([
    ['on the request', idOnRequest('host-1:a.b_C')],
    ['on the response', idOnResponse('host-1:a.b_C')],
  ])('is the one that the host put %s', async (_where, before) => {
    const { app, failures } = hostOf(before)
    const { headers } = await request(app).get('/authorize')
    expect(headers['x-request-id']).toBe('host-1:a.b_C')
    expect(failures).toEqual([expect.objectContaining({ requestId: 'host-1:a.b_C' })])
  })

  it('is the one on the response when the host put one on both', async () => {
    const { app } = hostOf(idOnRequest('request'), idOnResponse('response'))
    expect((await request(app).get('/authorize')).headers['x-request-id']).toBe('response')
  })

  it.each([
    ['a line break', 'a\r\nSet-Cookie: evil=1'],
    ['a line break at its end', 'host-1\n'],
    ['markup', '<script>alert(1)</script>'],
    ['a space', 'a b'],
    ['nothing', ''],
    ['129 letters', 'a'.repeat(129)],
    ['letters that are not ASCII', 'é'],
    ['a number', 7],
    ['an object', { toString: () => 'evil' }],
  ])('is a new one when that of the request is %s', async (_what, id) => {
    const { app, failures } = hostOf(idOnRequest(id))
    const { headers } = await request(app).get('/authorize')
    expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/)
    expect(headers).not.toHaveProperty('set-cookie')
    expect(failures).toEqual([expect.objectContaining({ requestId: headers['x-request-id'] })])
  })

  it('stands on the error page, for support', async () => {
    const { app } = hostOf()
    const { headers, text } = await request(app).get('/authorize')
    expect(text).toContain(`<code>${headers['x-request-id']}</code>`)
  })

  it('is not taken from what the user agent sent [edge-11]', async () => {
    const { headers } = await request(hostOf().app).get('/authorize').set('X-Request-Id', 'from-outside')
    expect(headers['x-request-id']).not.toBe('from-outside')
  })
})
