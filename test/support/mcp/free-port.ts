import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A free port of this machine, for programs that need one beforehand. It lies below the ports that
 * systems give for any port, so that no other program gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000)
  const server = createServer()
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}
