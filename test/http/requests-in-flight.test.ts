import { once } from 'node:events'
import { createServer, request as send, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import express from 'express'
import { RequestsInFlight } from '../../lib/http/requests-in-flight'
import { Gate } from '../support/flows/gate'
import { waitUntil } from '../support/wait-until'

const isPort = (address: AddressInfo | string | null): address is AddressInfo => typeof address === 'object'
const lines = (...words: readonly string[]) => `${words.join('\r\n')}\r\n\r\n`
const get = (path: string) => lines(`GET ${path} HTTP/1.1`, 'Host: localhost')

// Far longer than a test may take: what resolves, resolves because nothing is in flight.
const patience = 30

describe('requests in flight', () => {
  let requests: RequestsInFlight
  let server: Server
  let gate: Gate
  let entered: boolean[]
  const sockets: Socket[] = []

  beforeEach(async () => {
    requests = new RequestsInFlight()
    gate = new Gate()
    entered = []
    const app = express()
    app.use((request, response, next) => {
      entered.push(requests.enter(request, response))
      next()
    })
    app.get('/never', () => {})
    app.get('/slow', async (_request, response) => {
      await gate.pass()
      response.end('done')
    })
    app.get('/quick', (_request, response) => void response.end('done'))
    server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    server.close()
    server.closeAllConnections()
  })

  async function say(...words: readonly string[]): Promise<Socket> {
    const address = server.address()
    const socket = connect(isPort(address) ? address.port : 0, '127.0.0.1')
    sockets.push(socket)
    for (const word of words) socket.write(word)
    return socket
  }
  const haveCome = (count: number) => waitUntil('they have come', async () => entered.length >= count)

  it('are none in the beginning, nor when all are answered', async () => {
    await new RequestsInFlight().close(patience)
    await say(get('/quick'), get('/quick'))
    await haveCome(2)
    await requests.close(patience)
    expect(entered).toEqual([true, true])
  })

  it('are let in until the closing, and followed until they are answered', async () => {
    await say(get('/slow'))
    await haveCome(1)
    const closing = requests.close(patience)
    await say(get('/quick'))
    await haveCome(2)
    expect([entered, requests.isClosed]).toEqual([[true, false], true])
    gate.open()
    await closing
  })

  it('are forgotten when their client goes away', async () => {
    const socket = await say(get('/never'))
    await haveCome(1)
    const closing = requests.close(patience)
    socket.destroy()
    await expect(closing).resolves.toBeUndefined()
  })

  it('are forgotten when they stand in line behind one whose client goes away', async () => {
    const socket = await say(get('/never'), get('/quick'), get('/slow'))
    await haveCome(3)
    const closing = requests.close(patience)
    socket.destroy()
    await expect(closing).resolves.toBeUndefined()
  })

  it('are removed once: the next one is still awaited', async () => {
    const socket = await say(get('/never'))
    await haveCome(1)
    const gone = once(socket, 'close')
    socket.destroy()
    await gone
    await say(get('/slow'))
    await haveCome(2)
    let over = false
    const closing = requests.close(patience).then(() => (over = true))
    await say(get('/quick'))
    await haveCome(3)
    expect(over).toBe(false)
    gate.open()
    await closing
  })

  it('are not followed when their client has gone before', async () => {
    const app = new RequestsInFlight()
    const gone = once(server, 'request')
    const socket = await say(get('/never'))
    const [request, response] = await gone
    socket.destroy()
    await waitUntil('it is gone', async () => response.destroyed)
    expect(app.enter(request, response)).toBe(true)
    await app.close(patience)
  })

  it('that never end are awaited no longer than closeDeadline', async () => {
    await say(get('/never'))
    await haveCome(1)
    await expect(requests.close(0.01)).resolves.toBeUndefined()
  })

  it('do not pile up listeners on a connection that is kept', async () => {
    const warned = jest.fn()
    process.on('warning', warned)
    const socket = await say()
    for (let count = 1; count <= 30; count++) {
      socket.write(get('/quick'))
      await haveCome(count)
    }
    process.off('warning', warned)
    expect(warned).not.toHaveBeenCalled()
    await requests.close(patience)
  })

  it('that come too late end their connection', async () => {
    await requests.close(patience)
    const address = server.address()
    const outgoing = send({ port: isPort(address) ? address.port : 0, path: '/quick' }).end()
    const [incoming] = await once(outgoing, 'response')
    expect(incoming.headers.connection).toBe('close')
    incoming.resume()
  })
})
