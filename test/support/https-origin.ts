import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { createServer as createNetServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { CertificateAuthority, type KeyAndCertificate } from './certificate-authority'

/** The authority of the origins of one test file. */
export const authority = new CertificateAuthority()

/** A server on this machine that counts what reaches it. */
export interface Listener {
  readonly port: number
  /** How many connections it has had. */
  readonly connections: () => number
  /** How many connections it has now. */
  readonly open: () => number
  /** Ends all connections, and the server. */
  readonly close: () => Promise<void>
}

/** Where a server listens. Default: a free port at 127.0.0.1. */
export interface Place {
  readonly address?: string
  readonly port?: number
}

async function listening(server: Server, { address = '127.0.0.1', port = 0 }: Place): Promise<Listener> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
  })
  server.listen(port, address)
  await once(server, 'listening')
  const place = server.address()
  if (place === null || typeof place === 'string') throw new Error('The server has no port.')
  return {
    port: place.port,
    connections: () => connections,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A plain http server. */
export async function httpOrigin(answer: RequestListener, place: Place = {}): Promise<Listener> {
  return listening(createHttpServer(answer), place)
}

/** An https server with a certificate. */
export async function httpsOrigin(
  identity: KeyAndCertificate,
  answer: RequestListener,
  place: Place = {},
): Promise<Listener> {
  return listening(createServer(identity, answer), place)
}

/** A TLS server that writes what no http server would write. */
export async function tlsOrigin(
  identity: KeyAndCertificate,
  answer: (socket: Socket) => void,
  place: Place = {},
): Promise<Listener> {
  return listening(
    createTlsServer(identity, (socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => answer(socket))
    }),
    place,
  )
}

/** A server that accepts connections and never writes: what must not be reached, or what never answers. */
export async function silentListener(place: Place = {}): Promise<Listener> {
  // A socket without a reader would not notice its end.
  return listening(
    createNetServer((socket) => socket.resume()),
    place,
  )
}
