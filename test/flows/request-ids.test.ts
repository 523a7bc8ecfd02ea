import type { RequestHandler } from 'express'
import { createHash } from 'node:crypto'
import request from 'supertest'
import { application } from '../support/flows/application'
import { basic, type Fields, type Headers } from '../support/flows/flow'

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
