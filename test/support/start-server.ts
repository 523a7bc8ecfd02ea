import { createServer, type RequestListener, type Server } from 'node:http'
import { listening } from './listening'

/** A server that listens, for tests that speak to it byte by byte or by a browser. */
export interface StartedServer {
  readonly server: Server
  readonly port: number
  readonly stop: () => Promise<void>
}

export async function startServer(app: RequestListener): Promise<StartedServer> {
  const server = createServer(app)
  const { port, close } = await listening(server)
  return { server, port, stop: close }
}
