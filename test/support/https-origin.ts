import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { createServer as createNetServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { CertificateAuthority, type KeyAndCertificate } from './certificate-authority'
import { listening, type Listener, type Place } from './listening'

/** The authority of the origins of one test file. */
export const authority = new CertificateAuthority()

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
