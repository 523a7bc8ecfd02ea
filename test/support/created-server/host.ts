import { join } from 'node:path'
import { IncomingMessage, ServerResponse } from 'node:http'
import express, { type Express, type Request } from 'express'
import session from 'express-session'
import helmet from 'helmet'

const file = join(__dirname, '../../../LICENSE')

/** An application that uses what Express has, and what hosts put in front of it. */
export function host(): Express {
  const app = express()
  app.set('trust proxy', 'loopback')
  Object.assign(app.request, { shout: 'a request of the host' })
  Object.assign(app.response, {
    whisper(this: express.Response, text: string) {
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
  app.get('/download', (_request, response) => response.download(file, 'terms.txt'))
  app.get('/redirect', (_request, response) => response.redirect(307, '/send'))
  app.get('/cookie', (_request, response) => void response.cookie('a', 'b', { httpOnly: true }).send('c'))
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
  app.get('/raw', (_request, response) => void response.end('raw'))
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
  app.use('/mounted', mounted())
  app.get('/mounted/after', (request, response) => {
    response.json({ restored: Object.getPrototypeOf(request) === app.request, path: request.path })
  })
  return app
}

function mounted(): Express {
  const inner = express()
  inner.set('trust proxy', false)
  inner.set('json spaces', 1)
  inner.disable('x-powered-by')
  Object.assign(inner.request, { shout: 'a request of the inner' })
  inner.get('/inner', (request, response) => {
    const own = Object.getPrototypeOf(request) === inner.request
    response.json({ ...about(request), own, shout: Reflect.get(request, 'shout') })
  })
  return inner
}

function about(request: Request): Record<string, unknown> {
  const { ip, ips, hostname, secure, protocol, path, query, xhr, subdomains, fresh, sessionID } = request
  const accepted = request.accepts(['html', 'json'])
  return { ip, ips, hostname, secure, protocol, path, query, xhr, subdomains, fresh, sessionID, accepted }
}
