import { once } from 'node:events'
import { get, type IncomingMessage, type RequestListener } from 'node:http'
import express, { type RequestHandler } from 'express'
import {
  type AuthorizationServerOptions,
  type BearerGuard,
  createBearerGuard,
  createIntrospectionGuard,
  createJwtBearerGuard,
  memoryStore,
} from '../../lib/index'
import { jwtAccessTokenReader } from '../../lib/paths/jwt'
import { application } from '../support/flows/application'
import { bent, nightlyReport } from '../support/flows/clients'
import { Clock } from '../support/flows/clock'
import { sharedKeys, withJwts } from '../support/flows/jwt-tokens'
import { gallery, job, photosApi, printApi } from '../support/flows/resources'
import { startServer, type StartedServer } from '../support/start-server'

const started: StartedServer[] = []
afterEach(() => Promise.all(started.splice(0).map(({ stop }) => stop())))

async function listen(app: RequestListener): Promise<number> {
  const server = await startServer(app)
  started.push(server)
  return server.port
}

const guardNames = ['same process', 'other process', 'JWT', 'introspection'] as const
type GuardName = (typeof guardNames)[number]

interface Guarded {
  readonly name: GuardName
  readonly port: number
}

async function guarded(name: GuardName, guard: BearerGuard, options: object = {}): Promise<Guarded> {
  const app = express()
  const end: RequestHandler = (req, res) => void res.json({ subject: req.oauth?.subject ?? null })
  app.all('/read', guard('photos:read', options), end)
  app.all('/print', guard('photos:print', options), end)
  app.all('/optional', guard({ ...options, optional: true }), end)
  return { name, port: await listen(app) }
}

const everyScope = 'photos:read photos:print'
const resources = {
  [photosApi]: { scopes: ['photos:read', 'photos:print'], accessTokenLifetime: 600 },
  [printApi]: { scopes: ['photos:read', 'photos:print'] },
} satisfies AuthorizationServerOptions['resources']
const photoServer = bent(nightlyReport, { client_id: 'photo-server', may_introspect: true })

/** One server that issues JWTs, and four guards of one resource: each gets the same tokens. */
async function fourGuards() {
  const clock = new Clock()
  const store = memoryStore({ clock: clock.read })
  const origin = express()
  const issuer = `http://127.0.0.1:${await listen(origin)}`
  const clients = [gallery, job, photoServer].map(({ registration }) => registration)
  const common = { issuer, clients, resources, defaultResource: photosApi, store, clock: clock.read }
  const keys = sharedKeys()
  const { app, flow, oauth } = application(withJwts(common, {}, keys), {
    mount: (host, server) => void host.use(server.router()),
  })
  origin.use(app)
  // The same server before it issued JWTs.
  const before = application(withJwts({ ...common, plugIns: [] }), {
    mount: (host, server) => void host.use(server.router()),
  })
  const jwks = (await flow.open('/.well-known/jwks.json')).body
  const client = { client_id: 'photo-server', client_secret: nightlyReport.secret }
  const own = { issuer, clock: clock.read }
  const guards = await Promise.all([
    guarded('same process', oauth.bearerGuard, { resource: photosApi }),
    guarded(
      'other process',
      createBearerGuard({
        ...own,
        store,
        resources,
        defaultResource: photosApi,
        plugIns: [jwtAccessTokenReader({ keys: jwks })],
      }),
    ),
    guarded('JWT', createJwtBearerGuard({ ...own, audience: photosApi, resource: photosApi, keys: jwks })),
    guarded(
      'introspection',
      createIntrospectionGuard({ ...own, client, resource: photosApi, limits: { inactive: false } }),
    ),
  ])

  const approved = async (to: typeof flow, bend: object = {}): Promise<string> => {
    const asked = { scope: 'photos:read', resource: photosApi, ...bend }
    return (await to.redeem(gallery, await to.approve(gallery, asked))).body.access_token
  }
  const byItself = { grant_type: 'client_credentials', scope: 'photos:read', resource: photosApi }
  const tokens: Readonly<Record<string, string>> = {
    TOKEN: await approved(flow),
    WIDE: await approved(flow, { scope: everyScope }),
    CLIENT: (await flow.request(job, byItself)).body.access_token,
    ELSEWHERE: await approved(flow, { resource: printApi }),
    OPAQUE: await approved(before.flow),
    REVOKED: await approved(flow),
    EXPIRED: await approved(flow),
  }
  /** What a guard answers to `Authorization` headers, in which a name stands for its token. */
  const answerOf = async ({ port }: Guarded, path: string, lines: readonly string[]) => {
    const sent = lines.map((line) => {
      const text = line.replaceAll(/[A-Z]{4,}/g, (name) => tokens[name] ?? name)
      return Buffer.from(text, 'utf8').toString('latin1')
    })
    const asked = get({ port, host: '127.0.0.1', path, agent: false, headers: { Authorization: sent } })
    const [response]: IncomingMessage[] = await once(asked, 'response')
    let body = ''
    for await (const chunk of response ?? []) body += String(chunk)
    return { status: response?.statusCode, body, challenge: response?.headers['www-authenticate'] }
  }
  const answersOf = async (path: string, lines: readonly string[]) =>
    Promise.all(guards.map((guard) => answerOf(guard, path, lines)))
  return { answersOf, clock, flow, tokens }
}

// TOKEN stands for a token with the scope photos:read, and the other words in capitals for the tokens of their names.
const headers: readonly (readonly string[])[] = [
  [],
  ['Bearer TOKEN'],
  ['bearer TOKEN'],
  ['Bearer'],
  ['Bearer TOKENx'],
  ['Bearer TOKEN more'],
  ['Bearer TOKEN, Bearer TOKEN'],
  ['Bearer TOKEN', 'Bearer TOKEN'],
  ['Bearer TOKEN', 'Basic YTpi'],
  ['Bearer "TOKEN"'],
  ['Basic YTpi'],
  ['TOKEN'],
  ['Bearer CLIENT'],
  ['Bearer ELSEWHERE'],
  [`Bearer at_${'a'.repeat(65)}`],
  [`Bearer ${'x'.repeat(9000)}`],
]
const paths = ['/read', '/optional']
const requests = paths.flatMap((path) => headers.map((lines) => ({ path, lines })))

test('four guards answer each request alike, with status, body and challenge [access-19]', async () => {
  const { answersOf } = await fourGuards()
  for (const { path, lines } of requests) {
    const answers = await answersOf(path, lines)
    const [first] = answers
    expect({ path, lines, answers }).toEqual({ path, lines, answers: guardNames.map(() => first) })
  }
})

// Where guards differ: what a token says of itself, and what only its record knows.
const differences = [
  ['an opaque token, which only its record explains', 'OPAQUE', 0, [200, 200, 401, 200]],
  ['a revoked token, at once', 'REVOKED', 0, [401, 401, 200, 200]],
  ['a revoked token, when the answer in the cache is too old', 'REVOKED', 30, [401, 401, 200, 401]],
  ['an expired token, in the seconds by which clocks may differ', 'EXPIRED', 602, [401, 401, 200, 401]],
  ['an expired token, after them', 'EXPIRED', 605, [401, 401, 401, 401]],
] as const

test('guards differ about tokens that are opaque, revoked or expired', async () => {
  const { answersOf, clock, flow, tokens } = await fourGuards()
  // Every guard has seen the tokens before.
  for (const name of ['REVOKED', 'EXPIRED']) await answersOf('/read', [`Bearer ${name}`])
  await flow.revoke(gallery, tokens['REVOKED'] ?? '')
  let passed = 0
  for (const [what, name, seconds, statuses] of differences) {
    clock.advance(seconds - passed)
    passed = seconds
    const answers = await answersOf('/read', [`Bearer ${name}`])
    expect([what, answers.map(({ status }) => status)]).toEqual([what, statuses])
    const refused = answers.filter(({ status }) => status === 401)
    expect(refused).toEqual(refused.map(() => refused[0]))
  }
})
