import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listening } from '../listening'

/** A way to a database that a test can hold, cut, and open again. */
export async function openWay(port: number) {
  const sockets = new Set<Socket>()
  let isHeld = false
  const server = createServer((client) => {
    const database = connect(port, '127.0.0.1')
    const join = (from: Socket, to: Socket) => {
      sockets.add(from)
      from.on('data', (words) => void to.write(words)).on('error', () => {})
      from.once('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isHeld) from.pause()
    }
    join(client, database)
    join(database, client)
  })
  const { port: own, close } = await listening(server)
  return {
    port: own,
    /** Nothing passes, and nothing is lost. */
    hold() {
      isHeld = true
      for (const socket of sockets) socket.pause()
    },
    release() {
      isHeld = false
      for (const socket of sockets) socket.resume()
    },
    async cut() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
    async open() {
      server.listen(own, '127.0.0.1')
      await once(server, 'listening')
    },
    close,
  }
}
