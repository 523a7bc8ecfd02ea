import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'

/** A server that listens, for tests that speak to it byte by byte or by a browser. */
export interface StartedServer {
  readonly server: Server
  readonly port: number
  readonly stop: () => Promise<void>
}

export async function startServer(app: RequestListener): Promise<StartedServer> {
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { server, port: address.port, stop }
}
