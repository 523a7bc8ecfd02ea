import { createServer, type RequestListener } from 'node:http'
import { listening } from './listening'

export async function startServer(app: RequestListener) {
  const server = createServer(app)
  const { port, close } = await listening(server)
  return { server, port, stop: close }
}

/** A server that listens, for tests that speak to it byte by byte or by a browser. */
export type StartedServer = Awaited<ReturnType<typeof startServer>>
