import { randomUUID } from 'node:crypto'
import type { RedisPlan } from '../redis-plan'
import { startServer, type ServerProcess } from '../flows/start-server'
import { clientsOfRaces } from './requests'
import { processes, type Grace } from './plan'
import type { OriginsByGrace } from './race'

export interface RunningServers {
  readonly origins: OriginsByGrace
  readonly stop: () => Promise<void>
}

/** Three strict processes and three with the usual grace, all on one Redis. */
export async function startServers(redis: RedisPlan): Promise<RunningServers> {
  const prefix = `races:${randomUUID()}:`
  const started: ServerProcess[] = []
  const three = (refreshTokenGrace: Grace): Promise<string[]> =>
    Promise.all(
      Array.from({ length: processes }, async () => {
        const server = await startServer({ redis, prefix, refreshTokenGrace, clients: clientsOfRaces })
        started.push(server)
        return server.url
      }),
    )
  const [strict, usual] = await Promise.all([three(0), three(30)])
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.kill()))
  }
  return { origins: { 0: strict, 30: usual }, stop }
}
