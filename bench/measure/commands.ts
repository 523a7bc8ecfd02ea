import { startTarget } from '../child'
import { KeptConnection } from '../connection'
import type { RunningRedis } from '../redis'
import { servers } from '../servers'
import { countingProxy, type Traffic } from './counting-proxy'

const operations = 50

/** Commands and round trips to Redis for one operation, by server and workload. */
export type Commands = ReadonlyMap<string, ReadonlyMap<string, Traffic>>

export async function commandsOf(redis: RunningRedis): Promise<Commands> {
  const commands = new Map<string, ReadonlyMap<string, Traffic>>()
  for (const server of servers) {
    if (server.role === 'floor' || server.variant !== undefined) continue
    const proxy = await countingProxy(Number(new URL(redis.url).port))
    const running = await startTarget(server, proxy.url)
    const counted = new Map<string, Traffic>()
    for (const [workload, story] of Object.entries(server.stories)) {
      const connection = await KeptConnection.open(running.port)
      const operation = await story(connection)
      await operation()
      const before = { ...proxy.traffic }
      for (let done = 0; done < operations; done++) await operation()
      counted.set(workload, {
        commands: (proxy.traffic.commands - before.commands) / operations,
        roundTrips: (proxy.traffic.roundTrips - before.roundTrips) / operations,
      })
      connection.close()
    }
    commands.set(server.name, counted)
    await running.stop()
    proxy.close()
  }
  return commands
}
