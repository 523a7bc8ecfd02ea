import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port of this machine that nobody listens at, for programs that have to be told one. It lies below the ports that
 * systems give to whoever asks for any port, so that nobody gets it meanwhile.
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
