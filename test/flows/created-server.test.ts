import { join } from 'node:path'
import express, { type Express, type Request, type Response } from 'express'
import session from 'express-session'
import helmet from 'helmet'
import { once } from 'node:events'
import {
  createServer as createPlainServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
} from 'node:http'
import { Agent, createServer as createPlainSecureServer, get } from 'node:https'
import { connect, Socket } from 'node:net'
import { createSecureServer, createServer } from '../../lib/index'
import { lastSaid, said, spoken, whileListening } from '../support/created-server/spoken'
import { application } from '../support/flows/application'
import { ownCertificate } from '../support/flows/certificates'
import { photoBook } from '../support/flows/clients'
import { Flow } from '../support/flows/flow'
import { tokensOf } from '../support/flows/tokens'

const file = join(__dirname, '../../LICENSE')

/** An application that uses what Express has, and what hosts put in front of it. */
function host(): Express {
  const app = express()
  app.set('trust proxy', 'loopback')
  Object.assign(app.request, { shout: 'a request of the host' })
  Object.assign(app.response, {
    whisper(this: Response, text: string) {
      this.type('text').send(text.toLowerCase())
    },
  })
  app.use(helmet())
  app.use(
    session({ secret: 'secret', resave: false, saveUninitialized: true, genid: () => 'one', name: 'sid' }),
  )
  app.get('/send', (_request, response) => void response.send('sent'))
  app.get('/json', (_request, response) => void response.status(202).json({ it: ['is', 'json'] }))
  app.get('/file', (_request, response) => response.sendFile(file))
  app.get('/redirect', (_request, response) => response.redirect(307, '/send'))
  app.get('/throw', () => {
    throw Object.assign(new Error('thrown'), { status: 418, stack: 'at home' })
  })
  app.get('/streamed', (_request, response) => {
    response.writeHead(200, 'Fine', { Trailer: 'Sum' })
    response.write('one,')
    response.write('two')
    response.addTrailers({ Sum: '2' })
    response.end()
  })
  app.get('/extended', (request, response) => {
    Object.assign(response, { recorded: Reflect.get(request, 'shout') })
    Reflect.apply(Reflect.get(response, 'whisper'), response, [`${Reflect.get(request, 'shout')}!`])
  })
  app.get('/about', (request, response) => void response.json(about(request)))
  app.get('/kinds', (request, response) => {
    const kinds = [request instanceof IncomingMessage, response instanceof ServerResponse]
    const names = [request.constructor.name, response.constructor.name]
    const own = [Object.keys(request), Object.keys(response)].flat().filter((key) => !key.startsWith('_'))
    response.json({ kinds, names, own, circular: request.res === response && response.req === request })
  })
  app.post('/parsed', express.json(), express.urlencoded({ extended: true }), (request, response) => {
    response.json(request.body)
  })
  app.use('/mounted', express())
  app.get('/mounted/after', (request, response) => {
    response.json({ restored: Object.getPrototypeOf(request) === app.request, path: request.path })
  })
  return app
}

function about(request: Request): Record<string, unknown> {
  const { ip, ips, hostname, secure, protocol, path, query, xhr, subdomains, fresh, sessionID } = request
  const accepted = request.accepts(['html', 'json'])
  return { ip, ips, hostname, secure, protocol, path, query, xhr, subdomains, fresh, sessionID, accepted }
}

const json = 'Content-Type: application/json'
const chunked = ['Transfer-Encoding: chunked', 'Connection: close']
const proxied = ['X-Forwarded-For: 203.0.113.7', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: a.b.example']
const upgrade = said('GET', '/send', ['Connection: Upgrade', 'Upgrade: own'])

type Prepare = (server: Server, app: RequestListener) => void

const answersUpgrades: Prepare = (server, app) => {
  server.on('upgrade', (request, socket) => {
    // As hosts do who let the session middleware see an upgrade.
    const response = new ServerResponse(request)
    if (socket instanceof Socket) response.assignSocket(socket)
    response.shouldKeepAlive = false
    app(request, response)
    response.on('finish', () => socket.end())
  })
}

/** Its name, what the client says, how the answer begins, and what listens beside the application. */
type Row = readonly [string, readonly string[], string, Prepare?]

const rows: readonly Row[] = [
  ['res.send', [lastSaid('GET', '/send')], '200 OK'],
  ['res.sendFile', [lastSaid('GET', '/file')], '200 OK'],
  ['res.redirect', [lastSaid('GET', '/redirect')], '307 Temporary Redirect'],
  ['a thrown error', [lastSaid('GET', '/throw')], "418 I'm a Teapot"],
  ['a path that cannot be decoded', [lastSaid('GET', '/mounted/%')], '404 Not Found'],
  ['a stream with a trailer', [lastSaid('GET', '/streamed')], '200 Fine'],
  ['prototypes that the host extends', [lastSaid('GET', '/extended')], '200 OK'],
  ['instances and their properties', [lastSaid('GET', '/kinds')], '200 OK'],
  ['getters behind a trusted proxy', [lastSaid('GET', '/about', proxied)], '200 OK'],
  ['a route after a mounted application', [lastSaid('GET', '/mounted/after')], '200 OK'],
  ['a JSON body', [lastSaid('POST', '/parsed', [json], '{"a":[1]}')], '200 OK'],
  [
    'a chunked body',
    [said('POST', '/parsed', [json, ...chunked], '4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n')],
    '200 OK',
  ],
  ['HEAD', [lastSaid('HEAD', '/send')], '200 OK'],
  ['pipelining', [said('GET', '/file') + said('GET', '/json') + lastSaid('GET', '/send')], '200 OK'],
  [
    'Expect: 100-continue',
    [said('POST', '/parsed', [json, 'Expect: 100-continue', 'Connection: close', 'Content-Length: 2']), '[]'],
    '100 Continue',
  ],
  ['an upgrade', [upgrade], '200 OK', answersUpgrades],
]

const servers = [
  ['a plain server', createPlainServer],
  ['createServer()', createServer],
] as const

describe('createServer() answers byte by byte as a plain server does', () => {
  const named = rows.map(([name, words, status, prepare]) => ({ name, words, status, prepare }))
  test.each(named)('$name', async ({ words, status, prepare }) => {
    const [plain, created] = await Promise.all(
      servers.map(async ([, create]) => {
        const app = host()
        const server = create(app)
        prepare?.(server, app)
        return whileListening(server, (port) => spoken(port, ...words))
      }),
    )
    expect(plain).toMatch(new RegExp(`^HTTP/1\\.1 ${status}\r\n`))
    expect(created).toBe(plain)
  })
})

async function prototypes() {
  const app = express()
  const seen: { before?: readonly unknown[]; inside?: readonly unknown[] } = {}
  const see =
    (moment: keyof typeof seen): RequestListener =>
    (request, response) => {
      seen[moment] = [Object.getPrototypeOf(request), Object.getPrototypeOf(response)]
    }
  app.get('/', (request, response) => {
    see('inside')(request, response)
    response.end()
  })
  const server = createServer(app)
  server.prependListener('request', see('before'))
  await whileListening(server, (port) => spoken(port, lastSaid('GET', '/')))
  return { ...seen, own: [app.request, app.response] }
}

// V8 13 is that of Node 24, where createServer() is the one of Node.
const isOld = Number.parseInt(process.versions.v8, 10) < 13

test('A message has the prototype of its application, on Node 20 and 22 before Express sees it: nothing is left to change', async () => {
  const { before, inside, own } = await prototypes()
  expect([before?.[0] === own[0], before?.[1] === own[1]]).toEqual([isOld, isOld])
  expect(inside?.[0]).toBe(own[0])
  expect(inside?.[1]).toBe(own[1])
})

test('what the host adds to the prototypes later is there', async () => {
  const app = express()
  const server = createServer(app)
  Object.assign(app.request, { added: 'later' })
  app.get('/', (request, response) => void response.send(Reflect.get(request, 'added')))
  expect(await whileListening(server, (port) => spoken(port, lastSaid('GET', '/')))).toMatch(/\r\n\r\nlater$/)
})

test('options of Node reach each request and response', async () => {
  const seen: string[] = []
  const app = express()
  app.get('/', (request, response) => {
    expect(request.readableHighWaterMark).toBe(5000)
    expect(() => response.write('a body that HEAD must not have')).toThrow('is not allowed')
    seen.push(request.method)
    response.end()
  })
  const server = createServer(app, { highWaterMark: 5000, rejectNonStandardBodyWrites: true })
  await whileListening(server, (port) => spoken(port, lastSaid('HEAD', '/')))
  expect(seen).toEqual(['HEAD'])
})

test('the main way leads to tokens, their renewal and their end', async () => {
  const { app } = application()
  const flow = new Flow(createServer(app))
  const first = await flow.tokens(photoBook)
  expect((await flow.photos(first.accessToken)).body).toMatchObject({ subject: 'alice' })
  const second = tokensOf(await flow.refresh(photoBook, first.refreshToken))
  expect((await flow.revoke(photoBook, second.refreshToken)).status).toBe(200)
  expect((await flow.photos(second.accessToken)).status).toBe(401)
})

type Create = (app: RequestListener) => Server

/** What both servers made of the same. */
async function both(act: (create: Create) => Promise<unknown>): Promise<readonly unknown[]> {
  return [await act(createPlainServer), await act(createServer)]
}

/** What happens to an incomplete request, and to its response. */
async function abandoned(create: Create): Promise<readonly string[]> {
  const app = express()
  const events: string[] = []
  let isOver: () => void
  const over = new Promise<void>((resolve) => (isOver = resolve))
  app.post('/', (request, response) => {
    const note = (event: string) => () => events.push(`${event} ${String(request.complete)}`)
    request.on('data', note('data')).on('aborted', note('aborted')).on('end', note('end'))
    request.on('error', (error) => events.push(`error ${error.message}`)).on('close', note('close'))
    response.on('finish', note('finish'))
    response.on('close', () => {
      events.push(`response closed ${String(response.writableFinished)} ${String(response.destroyed)}`)
      isOver()
    })
  })
  return whileListening(create(app), async (port) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(said('POST', '/', ['Content-Length: 10'], 'abc'))
    while (events.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    socket.destroy()
    await over
    await new Promise((resolve) => setImmediate(resolve))
    return events
  })
}

test('a request that is abandoned in its body ends as on a plain server', async () => {
  const [plain, created] = await both(abandoned)
  expect(created).toEqual(plain)
  expect(created).toEqual(
    expect.arrayContaining(['data false', 'aborted false', 'response closed false true']),
  )
})

test.each(['server', 'response'] as const)('a timeout of a %s comes as on a plain one', async (whose) => {
  const [plain, created] = await both(async (create) => {
    const timedOut: string[] = []
    const app = express()
    app.get('/', (_request, response) => {
      if (whose === 'response')
        response.setTimeout(30, () => void response.status(503).send(`${timedOut.push('response')}`))
    })
    const server = create(app)
    if (whose === 'server') server.setTimeout(30, (socket) => socket.end(`${timedOut.push('server')}`))
    return whileListening(server, async (port) => [await spoken(port, lastSaid('GET', '/')), timedOut])
  })
  expect(created).toEqual(plain)
  expect(created).toEqual([expect.any(String), [whose]])
})

test('a request over TLS is secure, with what else is known of it', async () => {
  const answers = [createPlainSecureServer, createSecure].map(async (create) => {
    const app = express()
    app.get('/', (request, response) => {
      const own = Object.getPrototypeOf(request) === app.request
      response.json({ secure: request.secure, protocol: request.protocol, own, ip: request.ip })
    })
    const server = create(ownCertificate, app)
    return whileListening(server, async (port) => {
      const agent = new Agent({ rejectUnauthorized: false })
      const [response] = await once(get({ port, host: '127.0.0.1', agent }), 'response')
      let text = ''
      for await (const chunk of response) text += String(chunk)
      agent.destroy()
      return [response.statusCode, JSON.parse(text)]
    })
  })
  const [plain, created] = await Promise.all(answers)
  expect(created).toEqual(plain)
  expect(created).toEqual([200, { secure: true, protocol: 'https', own: true, ip: '127.0.0.1' }])
})

function createSecure(options: typeof ownCertificate, app: RequestListener) {
  return createSecureServer(app, options)
}
