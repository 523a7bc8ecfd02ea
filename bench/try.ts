import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { openConnection } from './connection'
import { peers } from './peers'
import type { Story } from './story'

/** Tells for each workload of one server whether it works, and which commands one operation sends to Redis. */
const operations = 20

async function tryOne(name: string): Promise<void> {
  const stories = peers[name]
  if (!stories) throw new Error(`No such server: ${name}. There are ${Object.keys(peers).join(', ')}`)
  const redisPort = await freePort()
  const redisServer = spawn('redis-server', ['--port', `${redisPort}`, '--save', '', '--bind', '127.0.0.1'])
  const redis = new Redis(redisPort)
  const port = await freePort()
  const target = startTarget(name, port, `redis://127.0.0.1:${redisPort}`)
  try {
    await ready(target)
    for (const [workload, story] of Object.entries(stories)) {
      console.log(`${name} ${workload}: ${await outcome(story, port, redis)}`)
    }
  } finally {
    target.kill()
    redis.disconnect()
    redisServer.kill()
  }
}

function startTarget(name: string, port: number, redisUrl: string): ChildProcess {
  return fork(join(__dirname, 'targets', `${name}.ts`), {
    execArgv: ['-r', 'esbuild-register'],
    env: { ...process.env, NODE_ENV: 'production', PORT: `${port}`, REDIS_URL: redisUrl },
  })
}

async function ready(target: ChildProcess): Promise<void> {
  const died = once(target, 'exit').then(() => Promise.reject(new Error('The target ended.')))
  await Promise.race([once(target, 'message'), died])
}

async function outcome(story: Story, port: number, redis: Redis): Promise<string> {
  const connection = await openConnection(port)
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('No port is free.')
  return address.port
}

void tryOne(process.argv[2] ?? '').catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
