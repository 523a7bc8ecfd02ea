import type { Redis } from 'ioredis'
import type { RunningTarget } from '../child'
import { KeptConnection } from '../connection'
import { ours } from '../stories/ours'
import { get, jsonOf, type Connection } from '../story'
import { figure, whole } from './table'

const operations = 20
const tried = ['clientCredentials', 'codeFlowWithPage', 'refresh', 'guard'] as const

/**
 * Runs each flow with every request at another process than the one before, where there are several: a wrong answer ends
 * everything. Returns rows of what they asked of Redis.
 */
export async function flowsAcross(target: RunningTarget, redis: Redis, count: number): Promise<string[][]> {
  const connections = await openToEach(target, count)
  const alternating = inTurn(connections)
  const rows: string[][] = []
  for (const name of tried) {
    const operation = await ours[name]?.(alternating)
    if (operation === undefined) continue
    await operation()
    const counted = await commandsDuring(redis, async () => {
      for (let done = 0; done < operations; done++) await operation()
    })
    const which = [...counted].map(([command, times]) => `${figure(times / operations)} ${command}`)
    const all = [...counted.values()].reduce((sum, times) => sum + times, 0) / operations
    rows.push([whole(count), name, figure(all), which.join(', ')])
  }
  for (const connection of connections) connection.close()
  return rows
}

/** One connection to each process. */
async function openToEach(target: RunningTarget, count: number): Promise<readonly KeptConnection[]> {
  const byProcess = new Map<unknown, KeptConnection>()
  for (let tries = 0; byProcess.size < count; tries++) {
    if (tries === 20) throw new Error(`Of ${count} processes only ${byProcess.size} answer.`)
    const connection = await KeptConnection.open(target.port)
    const { id } = jsonOf(await connection.ask(get('/process')))
    if (byProcess.has(id)) connection.close()
    else byProcess.set(id, connection)
  }
  return [...byProcess.values()]
}

function inTurn(connections: readonly Connection[]): Connection {
  let asked = 0
  return {
    ask(text) {
      const connection = connections[asked++ % connections.length]
      return connection ? connection.ask(text) : Promise.reject(new Error('No connection.'))
    },
  }
}

// MONITOR, and not commandstats: there commands inside a script count as well.
async function commandsDuring(redis: Redis, work: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const counted = new Map<string, number>()
  const monitor = await redis.monitor()
  const mark = `over-${performance.now()}`
  const over = new Promise<void>((resolve) => {
    monitor.on('monitor', (_time: string, [command = '', word]: string[], source: string) => {
      const name = command.toUpperCase()
      if (word === mark) resolve()
      else if (source !== 'lua') counted.set(name, (counted.get(name) ?? 0) + 1)
    })
  })
  await work()
  await redis.echo(mark)
  await over
  monitor.disconnect()
  return counted
}
