import { once } from 'node:events'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { Agent, createServer as createPlainSecureServer, get } from 'node:https'
import { connect } from 'node:net'
import express from 'express'
import { createSecureServer, createServer } from '../../lib/index'
import { lastSaid, said, spoken, whileListening } from '../support/created-server/spoken'
import { ownCertificate } from '../support/flows/certificates'

type Create = (app: RequestListener) => Server

/** What both servers made of the same. */
async function both(act: (create: Create) => Promise<unknown>): Promise<readonly unknown[]> {
  return [await act(createPlainServer), await act(createServer)]
}

/** What happens to a request of which nobody sends the rest, and to its response. */
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
    const told: string[] = []
    const app = express()
    app.get('/', (_request, response) => {
      if (whose === 'response')
        response.setTimeout(30, () => void response.status(503).send(`${told.push('response')}`))
    })
    const server = create(app)
    if (whose === 'server') server.setTimeout(30, (socket) => socket.end(`${told.push('server')}`))
    return whileListening(server, async (port) => [await spoken(port, lastSaid('GET', '/')), told])
  })
  expect(created).toEqual(plain)
  expect(created).toEqual([expect.any(String), [whose]])
})

test('a response that was sent is finished, then closed', async () => {
  const [plain, created] = await both(async (create) => {
    const events: string[] = []
    const app = express()
    app.get('/', (_request, response) => {
      for (const event of ['prefinish', 'finish', 'close']) response.on(event, () => events.push(event))
      response.send('sent')
    })
    await whileListening(create(app), (port) => spoken(port, lastSaid('GET', '/')))
    return events
  })
  expect(created).toEqual(plain)
  expect(created).toEqual(['prefinish', 'finish', 'close'])
})

test('a request over TLS is secure, with what else is known of it', async () => {
  const answers = [createPlainSecureServer, secure].map(async (create) => {
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

function secure(options: typeof ownCertificate, app: RequestListener) {
  return createSecureServer(app, options)
}
