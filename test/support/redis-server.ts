import { startRedisProcess, type RedisProcess } from './redis-process'

export interface RedisServer extends RedisProcess {
  url: string
}

export interface RedisServerOptions {
  /** For tests that pause or kill it: the server at REDIS_URL is not theirs. */
  own?: boolean
  /** To come back at the port of a server that was stopped. */
  port?: number
  extraArguments?: readonly string[]
}

export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { own = false, port, extraArguments = [] } = options
  const existing = process.env['REDIS_URL']
  if (existing && !own && port === undefined && extraArguments.length === 0) return serverOfOthers(existing)
  const server = await startRedisProcess({ port, extraArguments, readyWhen: /Ready to accept connections/ })
  return { ...server, url: `redis://127.0.0.1:${server.port}` }
}

function serverOfOthers(url: string): RedisServer {
  return {
    url,
    port: Number(new URL(url).port || 6379),
    directory: '',
    kill: () =>
      Promise.reject(new Error('The server at REDIS_URL is not ours to kill: ask for `own: true`.')),
    stop: () => Promise.resolve(),
  }
}
