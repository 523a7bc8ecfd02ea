import { startTarget } from './child'
import { KeptConnection } from './connection'
import { startRedis } from './redis'
import { servers } from './servers'
import type { Story } from './story'
import type { Redis } from 'ioredis'

const operations = 20

/** Tells for each workload of one server whether it works, and which commands one operation sends to Redis. */
async function tryOne(name: string): Promise<void> {
  const server = servers.find((known) => known.name === name)
  if (!server)
    throw new Error(`No such server: ${name}. There are ${servers.map((known) => known.name).join(', ')}`)
  const redis = await startRedis()
  const running = await startTarget(server, redis.url)
  for (const [workload, story] of Object.entries(server.stories))
    console.log(`${name} ${workload}: ${await outcome(story, running.port, redis.client)}`)
  await running.stop()
  redis.stop()
}

async function outcome(story: Story, port: number, redis: Redis): Promise<string> {
  const connection = await KeptConnection.open(port)
  try {
    const operation = await story(connection)
    await operation()
    await redis.config('RESETSTAT')
    for (let done = 0; done < operations; done++) await operation()
    return `ok; Redis: ${await commandsPerOperation(redis)}`
  } catch (error) {
    process.exitCode = 1
    return String(error)
  } finally {
    connection.close()
  }
}

async function commandsPerOperation(redis: Redis): Promise<string> {
  const statistics = await redis.info('commandstats')
  const commands = [...statistics.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
    .filter(([, command]) => !command?.startsWith('config'))
    .map(([, command, calls]) => `${command} ${Number(calls) / operations}`)
  return commands.join(', ') || 'nothing'
}

tryOne(process.argv[2] ?? '').catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
