import type { Server } from 'node:http'
import type { Express } from 'express'

/** Listens on loopback as a program of the tests, prints the port, and ends with the process that started it. */
export function listenAndPrint(app: Express): Server {
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address === 'object') process.stdout.write(`port ${address.port}\n`)
  })
  // A client that sends just as a connection is closed for being idle would see a reset without a fault.
  server.keepAliveTimeout = 0
  process.stdin.resume().on('close', () => process.exit())
  return server
}
