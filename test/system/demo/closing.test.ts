import { once } from 'node:events'
import { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { listen } from '../../../demo/listen'
import { openDemo } from './visit'

/** A connection that the http server no longer counts, and whose client has said its last word. */
async function heldConnection(url: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: 'localhost', allowHalfOpen: true })
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'data')
  socket.end()
  return socket
}

test('a server closes although an upgraded connection stands half open', async () => {
  const listener = await listen(0)
  const { app, url } = listener
  app.get('/', (request, response) => {
    const server: unknown = Reflect.get(request.socket, 'server')
    if (server instanceof Server)
      server.on('upgrade', (_request, socket) => socket.write('HTTP/1.1 101\r\n\r\n'))
    response.end()
  })
  await fetch(url)
  const held = await heldConnection(url)
  const gone = once(held, 'close')
  await listener.close()
  held.resume()
  await gone
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('the demo closes all its apps, while a connection to each stands open', async () => {
  const demo = await openDemo()
  const { authorizationServer, client, resourceServer, relyingParty, postcards, attackLab, television } = demo
  const apps = [authorizationServer, client, resourceServer, relyingParty, postcards, attackLab, television]
  const sockets = apps.map((url) => connect(Number(new URL(url).port), 'localhost').on('error', () => {}))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const gone = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
  await demo.stop()
  await gone
  for (const url of apps) await expect(fetch(url)).rejects.toThrow('fetch failed')
})
