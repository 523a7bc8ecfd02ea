import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { startRedis } from '../../support/redis-server'
import { waitUntil } from '../../support/wait-until'

const stops: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
})

function started<T extends { stop(): Promise<void> }>(thing: T): T {
  stops.push(() => thing.stop())
  return thing
}

function connect(url: string): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 500 })
  client.on('error', () => {})
  stops.push(() => client.disconnect())
  return client
}

test('a Redis server answers PING', async () => {
  const { url } = started(await startRedis())
  expect(await connect(url).ping()).toBe('PONG')
})

describe('a Redis server of the test itself', () => {
  test('two at once have different ports', async () => {
    const [one, other] = await Promise.all([startRedis({ own: true }), startRedis({ own: true })])
    started(one)
    started(other)
    expect(one.port).not.toBe(other.port)
    expect(await Promise.all([connect(one.url).ping(), connect(other.url).ping()])).toEqual(['PONG', 'PONG'])
  })

  test('can be asked for with further arguments', async () => {
    const { url } = started(await startRedis({ extraArguments: ['--maxmemory-policy', 'noeviction'] }))
    expect(await connect(url).config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction'])
  })

  test('a port that is taken is an error where no other will do', async () => {
    const { port } = started(await startRedis({ own: true }))
    await expect(startRedis({ port })).rejects.toThrow('Address already in use')
  })

  test('wrong arguments are an error that shows what the server says', async () => {
    await expect(startRedis({ extraArguments: ['--no-such-thing', '1'] })).rejects.toThrow('no-such-thing')
  })

  test('can be killed and come back at its port', async () => {
    const server = started(await startRedis({ own: true }))
    const client = connect(server.url)
    await client.ping()
    await server.kill('SIGKILL')
    await expect(client.ping()).rejects.toThrow('max retries')
    started(await startRedis({ port: server.port }))
    await waitUntil('it answers again', () => client.ping().then(Boolean, () => false))
  })

  test('can be paused, and stopped while it is paused', async () => {
    const server = started(await startRedis({ own: true }))
    const client = connect(server.url)
    await client.ping()
    await server.kill('SIGSTOP')
    await expect(client.ping()).rejects.toThrow('timed out')
    await server.stop()
  })

  test('dies with the process that started it, even if that one is killed', async () => {
    const program = `require('../../support/redis-server').startRedis({ own: true }).then(({ port }) => console.log(port)); setTimeout(() => {}, 1e6)`
    const parent = spawn(process.execPath, ['-r', 'esbuild-register', '-e', program], { cwd: __dirname })
    stops.push(() => void parent.kill('SIGKILL'))
    const [port] = await once(parent.stdout, 'data')
    const client = connect(`redis://127.0.0.1:${Number(port)}`)
    expect(await client.ping()).toBe('PONG')
    parent.kill('SIGKILL')
    await waitUntil('it is gone', () =>
      client.ping().then(
        () => false,
        () => true,
      ),
    )
  })
})
