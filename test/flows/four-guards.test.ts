import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import express, { type RequestHandler } from 'express'
import {
  type BearerGuard,
  createAuthorizationServer,
  createBearerGuard,
  createIntrospectionGuard,
  createJwtBearerGuard,
  memoryStore,
} from '../../lib/index'
import { hub } from '../support/assertions/jwt'
import { canonicalOptions } from '../support/flows/application'
import { photoBook } from '../support/flows/clients'
import { Flow } from '../support/flows/flow'
import { IntrospectionServer } from '../support/flows/introspection-server'
import { accessClaims, accessJwt, photoServer } from '../support/jwt-guard/access-tokens'
import { hubKeys } from '../support/jwt-guard/guarded-photos'

const { issuer } = canonicalOptions
const server = new IntrospectionServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

interface Guarded {
  readonly name: string
  readonly app: express.Express
  /** A live token with the scope photos:read. */
  readonly token: string
}

function guarded(name: string, guard: BearerGuard, token: string): Guarded {
  const app = express()
  const end: RequestHandler = (req, res) => void res.json({ subject: req.oauth?.subject ?? null })
  app.all('/read', guard('photos:read'), end)
  app.all('/print', guard('photos:print'), end)
  app.all('/optional', guard({ optional: true }), end)
  return { name, app, token }
}

async function fourGuards(): Promise<readonly Guarded[]> {
  const store = memoryStore()
  const oauth = createAuthorizationServer({ ...canonicalOptions, store })
  const flow = new Flow(express().use(oauth.router()))
  const { accessToken } = await flow.tokens(photoBook, { scope: 'photos:read' })
  const jwt = accessJwt(accessClaims(Math.floor(Date.now() / 1000)))
  const member = { scope: 'photos:read', client_id: 'photo-book', sub: 'alice' }
  server.answer = (response) => {
    const active = server.asked.at(-1)?.form.get('token') === 'live'
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(active ? { active, ...member } : { active }))
  }
  const client = { client_id: 'photo-server', client_secret: 'a secret' }
  return [
    guarded('same process', oauth.bearerGuard, accessToken),
    guarded('other process', createBearerGuard({ issuer, store }), accessToken),
    guarded('JWT', createJwtBearerGuard({ issuer: hub.issuer, audience: photoServer, keys: hubKeys }), jwt),
    guarded(
      'introspection',
      createIntrospectionGuard({ issuer, client, endpoint: server.endpoint, limits: { inactive: false } }),
      'live',
    ),
  ]
}

// TOKEN stands for the live token of each guard.
const headers: readonly (readonly string[])[] = [
  [],
  ['Bearer TOKEN'],
  ['bearer TOKEN'],
  ['BEARER  TOKEN'],
  ['Bearer'],
  ['Bearer '],
  ['Bearer TOKEN more'],
  ['Bearer TOKEN, Bearer TOKEN'],
  ['Bearer TOKEN', 'Bearer TOKEN'],
  ['Bearer TOKEN', 'Basic YTpi'],
  ['Bearer TÖKEN'],
  ['Bearer "TOKEN"'],
  ['Bearer token="TOKEN"'],
  ['Basic YTpi'],
  ['DPoP TOKEN'],
  ['TOKEN'],
  ['Bearer unknown'],
  ['Bearer TOKENx'],
  [`Bearer at_${'A'.repeat(64)}`],
  [`Bearer ${'x'.repeat(9000)}`],
]
const paths = ['/read', '/print', '/optional']
const requests = paths.flatMap((path) => headers.map((lines) => ({ path, lines })))

test('sixty requests: four guards answer each alike', async () => {
  expect(requests).toHaveLength(60)
  const guards = await fourGuards()
  for (const { path, lines } of requests) {
    const answers = await Promise.all(guards.map((guard) => answerOf(guard, path, lines)))
    const [first] = answers
    expect({ path, lines, answers }).toEqual({ path, lines, answers: guards.map(() => first) })
  }
})

test.each([
  ['the live token', '/read', ['Bearer TOKEN'], 200],
  ['a scope that it lacks', '/print', ['Bearer TOKEN'], 403],
  ['no token', '/read', [], 401],
  ['no token where it is optional', '/optional', [], 200],
  ['an unknown token where it is optional', '/optional', ['Bearer unknown'], 401],
  ['two headers', '/read', ['Bearer TOKEN', 'Bearer TOKEN'], 400],
])('every guard answers %s at %s with %j: %i', async (_what, path, lines, status) => {
  for (const guard of await fourGuards()) {
    const answer = await answerOf(guard, path, lines)
    expect([guard.name, answer.status]).toEqual([guard.name, status])
  }
})

async function answerOf({ app, token }: Guarded, path: string, lines: readonly string[]) {
  const listener = app.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const place = listener.address()
  const port = place !== null && typeof place === 'object' ? place.port : 0
  const sent = lines.map((line) => Buffer.from(line.replaceAll('TOKEN', token), 'utf8').toString('latin1'))
  const asked = get({ port, host: '127.0.0.1', path, agent: false, headers: { Authorization: sent } })
  const [response]: IncomingMessage[] = await once(asked, 'response')
  let body = ''
  for await (const chunk of response ?? []) body += String(chunk)
  listener.close()
  return { status: response?.statusCode, body, challenge: response?.headers['www-authenticate'] }
}
