import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { startDemo } from '../../../demo/demo'
import { freePorts } from '../../support/clients/free-ports'
import { startRedis } from '../../support/redis-server'
import { runDemoProcess, startDemoProcess, type DemoProcess } from './demo-process'
import { storages } from './storages'

const inMemory = /memory; .*REDIS_URL=/

const wordsOf: Readonly<Record<string, RegExp>> = { memory: inMemory, Redis: /Redis at redis:\/\/127/ }

describe.each(storages)('npm run demo with %s', (storage) => {
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined
  let demo: DemoProcess
  beforeAll(async () => {
    if (storage === 'Redis') redis = await startRedis()
    demo = await startDemoProcess({ PORT: '0', ...(redis === undefined ? {} : { REDIS_URL: redis.url }) })
  })
  afterAll(async () => {
    await demo.interrupt()
    await redis?.stop()
  })

  test('says what to open, what to type and where it keeps things', () => {
    expect(demo.printed).toMatch(/^ {2}Open +http:\/\/localhost:\d+ /m)
    for (const app of [
      'Photo Book, which asks for your photos',
      'Postcards, which Lumen does not know yet',
      'Supper Club, where you sign in with Lumen',
      'Attack Lab, where you watch attacks fail',
      'Television, which shows a code',
    ])
      expect(demo.printed).toMatch(new RegExp(`^ +http://localhost:\\d+ +${app}$`, 'm'))
    expect(demo.printed).toMatch(/^ {2}Sign in +ada \/ countess$/m)
    expect(demo.printed).toMatch(wordsOf[storage] ?? /there are no such words/)
  })

  test('prints curl lines that work as printed', async () => {
    expect(await runInOneShell(commandsIn(demo.printed))).toEqual([
      expect.stringMatching(/^\{"access_token":"at_[\w-]{64}","token_type":"bearer","expires_in":3600,/i),
      '',
      expect.stringMatching(/^\[\{"id":"first-light",.*\}\]$/),
      expect.stringMatching(/^HTTP\/1\.1 401 Unauthorized\r\n[^]*WWW-Authenticate: Bearer realm=/),
      expect.stringMatching(/^HTTP\/1\.1 403 Forbidden\r\n[^]*"error":"insufficient_scope"/),
    ])
  })
})

test('with Redis, an authorization is there', async () => {
  const redis = await startRedis()
  const demo = await startDemo({ ports: freePorts, redisUrl: redis.url })
  const { client_id, client_secret } = demo.clients.nightlyReport
  const grant = { grant_type: 'client_credentials', scope: 'photos:read', client_id, client_secret }
  const body = new URLSearchParams(grant)
  expect((await fetch(`${demo.authorizationServer}/token`, { method: 'POST', body })).status).toBe(200)
  expect(await keysAt(redis.url, 'oauth:authorization:*')).not.toEqual([])
  await demo.stop()
  await redis.stop()
})

test('without REDIS_URL it says how to keep things, and Ctrl+C ends it in good order', async () => {
  const demo = await startDemoProcess({ PORT: '0' })
  expect(demo.printed).toMatch(inMemory)
  expect(await demo.interrupt()).toMatchObject({ code: 0, stderr: '' })
})

describe('when it cannot start, it says why and what to do, and ends with 1', () => {
  test('a port is taken', async () => {
    const server = createServer().listen(0, 'localhost')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const end = await runDemoProcess({ PORT: String(port) })
    server.close()
    expect(end).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is taken: name the first of seven free ones, as in PORT=4000 npm run demo.\n`,
    })
  })

  test('PORT is no port', async () => {
    const stderr = 'PORT is "http": name the first of seven free ports, as in PORT=4000 npm run demo.\n'
    expect(await runDemoProcess({ PORT: 'http' })).toEqual({ code: 1, stdout: '', stderr })
  })
})

test('without Redis it starts and says what it waits for, once and without the password', async () => {
  const demo = await startDemoProcess({ PORT: '0', REDIS_URL: 'redis://:secret@localhost:1' })
  const page = await fetch(/Authorization server +(\S+)/.exec(demo.printed)?.[1] ?? '')
  expect(page.status).toBe(503)
  expect(await demo.interrupt()).toMatchObject({
    code: 0,
    stderr:
      'Redis at redis://localhost:1 does not answer: start it, and the demo goes on by itself. Without REDIS_URL it keeps everything in memory.\n',
  })
})

function commandsIn(printed: string): string[] {
  return printed.split('\n').filter((line) => /^ {2}(curl|TOKEN=)/.test(line))
}

// One shell, as in a terminal: what one line keeps, the next ones use.
async function runInOneShell(commands: string[]): Promise<string[]> {
  const separator = '\n----\n'
  const script = commands.join(`\nprintf '${separator}'\n`)
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script])
  return stdout.split(separator)
}

async function keysAt(url: string, pattern: string): Promise<string[]> {
  const client = new Redis(url)
  try {
    return await client.keys(pattern)
  } finally {
    client.disconnect()
  }
}
