import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { listening } from '../listening'

/**
 * A free port of this machine, for programs that need one beforehand. It lies below the ports that
 * systems give for any port, so that no other program gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000)
  const listener = await listening(createServer(), { port }).catch(() => undefined)
  if (listener === undefined) return freePort()
  await listener.close()
  return port
}
