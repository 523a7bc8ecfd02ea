import express, { type RequestHandler } from 'express'
import request from 'supertest'
import type { CorsOption } from '../../lib/index'
import { application } from '../support/flows/application'

const app = 'https://app.example'
const other = 'https://other.example'
const exposed = 'WWW-Authenticate, Retry-After, X-Request-Id'

/** The headers of CORS of a response to a script, behind a host that has set these. */
async function sharedWith(
  origin: string,
  cors: CorsOption,
  byHost: Record<string, string> = {},
  isPreflight = false,
) {
  const host: RequestHandler = (_request, response, next) => next(void response.set(byHost))
  const { app: served } = application({ cors }, { mount: (outer, oauth) => outer.use(host, oauth.router()) })
  const asked = isPreflight
    ? request(served).options('/token').set('Access-Control-Request-Method', 'POST')
    : request(served).post('/token')
  const { headers } = await asked.set('Origin', origin)
  const names = Object.keys(headers).filter((name) => /^access-control-|^vary$/.test(name))
  return Object.fromEntries(names.map((name) => [name, headers[name]]))
}

test.each([`${app}, ${other}`, 'null', '__proto__'])('A list has no origin %s', async (origin) => {
  expect(await sharedWith(origin, { origins: [app] })).toEqual({ vary: 'Origin' })
})

test.each<[string, Record<string, string>, Record<string, string>]>([
  [
    'exposed headers, each once',
    { 'Access-Control-Expose-Headers': 'X-Total, retry-after' },
    { 'access-control-expose-headers': 'X-Total, retry-after, WWW-Authenticate, X-Request-Id' },
  ],
  [
    'Vary, with what is missing',
    { Vary: 'Accept, Accept-Encoding' },
    { vary: 'Accept, Accept-Encoding, Origin' },
  ],
  ['Vary that says it all', { Vary: '*' }, { vary: '*' }],
])('The headers of a host stay: %s', async (_what, byHost, expected) => {
  const usual = {
    'access-control-allow-origin': app,
    'access-control-expose-headers': exposed,
    vary: 'Origin',
  }
  expect(await sharedWith(app, { origins: [app] }, byHost)).toEqual({ ...usual, ...expected })
})

test('The answer of a host to a preflight that it lets through stays, and so does its refusal', async () => {
  const byHost = {
    'Access-Control-Allow-Origin': app,
    'Access-Control-Allow-Headers': 'X-One',
    'Access-Control-Allow-Methods': 'PUT',
    'Access-Control-Max-Age': '5',
  }
  const lowerCased = Object.entries(byHost).map(([name, value]) => [name.toLowerCase(), value])
  expect(await sharedWith(app, true, byHost, true)).toEqual(Object.fromEntries(lowerCased))
  expect(await sharedWith(app, true, { Vary: 'accept, ORIGIN' }, true)).toEqual({ vary: 'accept, ORIGIN' })
})

test('Parts of one response write their headers once', async () => {
  const { oauth } = application({ cors: { origins: [app] } })
  const served = express().post('/token', oauth.clientAuthentication(), ...[oauth.token()].flat())
  const { headers } = await request(served).post('/token').set('Origin', app)
  expect(headers).toMatchObject({ vary: 'Origin', 'access-control-expose-headers': exposed })
})
