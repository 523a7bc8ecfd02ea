import { spawn } from 'node:child_process'
import Redis from 'ioredis'
import { freePort, otherCore, pin, type Core } from './child'

/** A Redis of the harness's own. */
export interface RunningRedis {
  readonly url: string
  readonly client: Redis
  stop(): void
}

/** Starts `redis-server` (or the program in REDIS_SERVER), without persistence, beside the generator unless told otherwise. */
export async function startRedis(core: Core = otherCore): Promise<RunningRedis> {
  const port = await freePort()
  const program = process.env['REDIS_SERVER'] ?? 'redis-server'
  const server = spawn(
    program,
    ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  pin(server, core)
  process.on('exit', () => server.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.stdout.on('data', (text: Buffer) => {
      if (text.includes('Ready to accept connections')) resolve()
    })
  })
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url)
  return {
    url,
    client,
    stop: () => {
      client.disconnect()
      server.kill('SIGKILL')
    },
  }
}
