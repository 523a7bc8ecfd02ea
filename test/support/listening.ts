import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import { closerOf } from '../../demo/close-server'

/** Where a server listens. Default: a free port at 127.0.0.1. */
export interface Place {
  readonly address?: string
  readonly port?: number
}

/** Lets a server listen. It counts its connections, and `close` ends them all; an error if that takes too long. */
export async function listening(server: Server, { address = '127.0.0.1', port = 0 }: Place = {}) {
  const close = closerOf(server)
  let [connections, open] = [0, 0]
  server.on('connection', (socket: Socket) => {
    connections += 1
    open += 1
    socket.on('error', () => undefined).once('close', () => (open -= 1))
  })
  server.listen(port, address)
  await once(server, 'listening')
  const place = server.address()
  if (place === null || typeof place === 'string') throw new Error('The server has no port.')
  return { port: place.port, connections: () => connections, open: () => open, close }
}

/** A server on this machine that counts what reaches it. */
export type Listener = Awaited<ReturnType<typeof listening>>
