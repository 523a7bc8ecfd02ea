import { startTarget } from '../child'
import { KeptConnection } from '../connection'
import type { RunningRedis } from '../redis'
import { servers } from '../servers'

const operations = 2000

/** Bytes and keys in Redis for one of what a workload leaves there. */
export interface Kept {
  readonly bytes: number
  readonly keys: number
}

export type Memory = ReadonlyMap<string, ReadonlyMap<string, Kept>>

/** What an access token of a client for itself, and what a code flow, leave in Redis. */
export async function memoryOf({ client, url }: RunningRedis): Promise<Memory> {
  const memory = new Map<string, ReadonlyMap<string, Kept>>()
  for (const server of servers) {
    if (server.role === 'floor' || server.variant !== undefined) continue
    const running = await startTarget(server, url)
    const kept = new Map<string, Kept>()
    const { clientCredentials, codeFlow, codeFlowWithPage } = server.stories
    // With a page only where there is no other: what is left is of the tokens either way.
    const leaving = { clientCredentials, codeFlow: codeFlow ?? codeFlowWithPage }
    for (const [workload, story] of Object.entries(leaving)) {
      if (story === undefined) continue
      const connection = await KeptConnection.open(running.port)
      const operation = await story(connection)
      await operation()
      await client.flushall()
      const [bytes, keys] = [await usedMemory(), await client.dbsize()]
      for (let done = 0; done < operations; done++) await operation()
      kept.set(workload, {
        bytes: ((await usedMemory()) - bytes) / operations,
        keys: ((await client.dbsize()) - keys) / operations,
      })
      connection.close()
    }
    memory.set(server.name, kept)
    await running.stop()
  }
  return memory

  async function usedMemory(): Promise<number> {
    return Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1])
  }
}
