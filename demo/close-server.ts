import type { Server, Socket } from 'node:net'

/**
 * What closes a server for good, and every connection that it has by then: an upgraded one too, which an http server
 * forgets. Ask for it before the server listens.
 *
 * @param seconds how long the end may take.
 */
export function closerOf(server: Server, seconds = 30): () => Promise<void> {
  const sockets = new Set<Socket>()
  let isClosing = false
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    if (isClosing) socket.destroy()
  })
  return async () => {
    const address = server.address()
    isClosing = true
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        // Nor does it keep the process.
        for (const handle of [server, ...sockets]) handle.unref()
        const states = [...sockets].map(({ remotePort, readyState }) => `${remotePort} ${readyState}`)
        const place = address === null || typeof address === 'string' ? address : `port ${address.port}`
        reject(
          new Error(
            `The server at ${place} has not closed within ${seconds} s: it ${server.listening ? 'still' : 'no longer'} listens, open connections: ${states.join(', ') || 'none'}.`,
          ),
        )
      }, seconds * 1000)
      // A server that is closed already is what the caller wants.
      server.close(() => {
        clearTimeout(timer)
        resolve()
      })
      for (const socket of sockets) socket.destroy()
    })
  }
}
