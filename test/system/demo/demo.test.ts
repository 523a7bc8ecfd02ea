import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { announcement } from '../../../demo/announcement'
import { runClient } from '../../support/mcp/run-client'
import { requireNode } from '../../support/nodes'
import { startRedis, type RedisServer } from '../../support/redis-server'
import { asWritten, runDemoProcess, startDemoProcess, type DemoProcess } from './demo-process'
import { AppVisitor, openDemo } from './visit'

describe('npm run demo with Redis', () => {
  let redis: RedisServer
  let demo: DemoProcess
  beforeAll(async () => {
    redis = await startRedis()
    demo = await startDemoProcess({ PORT: '0', STORE_URL: redis.url }, asWritten)
  })
  afterAll(async () => {
    await demo.interrupt()
    await redis.stop()
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
    expect(demo.printed).toMatch(/Storage +redis:\/\/127/)
  })

  test('prints curl lines that work as printed, and keeps the authorization in Redis', async () => {
    const commands = demo.printed.split('\n').filter((line) => /^ {2}(curl|TOKEN=)/.test(line))
    expect(await runInOneShell(commands)).toEqual([
      expect.stringMatching(/^\{"access_token":"at_[\w-]{65}","token_type":"bearer","expires_in":3600,/i),
      '',
      expect.stringMatching(/^\[\{"id":"first-light",.*\}\]$/),
      expect.stringMatching(/^HTTP\/1\.1 401 Unauthorized\r\n[^]*WWW-Authenticate: Bearer realm=/),
      expect.stringMatching(/^HTTP\/1\.1 403 Forbidden\r\n[^]*"error":"insufficient_scope"/),
    ])
    const client = new Redis(redis.url)
    expect(await client.keys('oauth:authorization:*')).not.toEqual([])
    client.disconnect()
  })

  test('prints a command by which mcp-remote reaches the MCP server that it names, and every tool of it', async () => {
    const [, command = ''] = /^ {2}(.*npx mcp-remote .*)$/m.exec(demo.printed) ?? []
    const [, issuer = ''] = /Authorization server +(\S+)/.exec(demo.printed) ?? []
    const [, server = ''] = /MCP server +(\S+)/.exec(demo.printed) ?? []
    const commands = demo.printed.split('\n').filter((line) => line.includes('npx '))
    for (const each of commands) expect(each).toMatch(new RegExp(` ${server}$`))
    const visitor = new AppVisitor(issuer)
    await visitor.post('/login', { username: 'ada', password: 'countess' })
    const { results, error } = await runClient({
      generation: 'remote',
      command,
      server: '',
      issuer,
      client: { kind: 'dynamic', redirectUri: '' },
      owner: { cookie: visitor.session },
      tools: ['list_photos', 'add_photo', 'list_photos'],
      arguments: { add_photo: { title: 'Late harvest' } },
    })
    expect(error).toBeUndefined()
    // Those of the workspace that its resource owner chose.
    const photos = expect.stringMatching(/^(?!.*Base camp).*First light, Lofoten/s)
    expect(results).toEqual([photos, 'Accepted: Late harvest', photos])
  })
})

// The package.json of the MCP Inspector: "node": ">=22.19.0".
test('the MCP Inspector is announced with a command on a Node on which it runs, and with the need for one elsewhere', async () => {
  const demo = await openDemo()
  await demo.stop()
  const announced = (node: string) => {
    const printed = announcement(demo, 'memory', node)
    const needs = `needs Node 22.19 or newer, and this is Node ${node}.`
    return ['npx @modelcontextprotocol/inspector --transport http', needs].map((text) =>
      printed.includes(text),
    )
  }
  expect(['20.20.2', '22.18.0'].map(announced)).toEqual([
    [false, true],
    [false, true],
  ])
  expect(['22.19.0', '24.0.0'].map(announced)).toEqual([
    [true, false],
    [true, false],
  ])
})

test('in memory it says how to keep things, and Ctrl+C ends it in good order', async () => {
  const demo = await startDemoProcess({ PORT: '0', STORE_URL: '' })
  expect(demo.printed).toMatch(/memory; .*STORE_URL=/)
  expect(await demo.interrupt()).toMatchObject({ code: 0, stderr: '' })
})

test('in a file it says which, Ctrl+C ends it in good order, and who was signed in is so after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'))
  const url = `file:${join(folder, 'demo.db')}`
  const start = async () => {
    const demo = await startDemoProcess({ PORT: '0', STORE_URL: url }, undefined, requireNode(24))
    return { ...demo, lumen: /Authorization server +(\S+)/.exec(demo.printed)?.[1] ?? '' }
  }
  const before = await start()
  expect(before.printed).toContain(`Storage                ${url}, over restarts`)
  const visitor = new AppVisitor(before.lumen)
  await visitor.post('/login', { username: 'ada', password: 'countess' })
  expect(await before.interrupt()).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(folder)).toEqual(['demo.db'])

  const after = await start()
  const returned = new AppVisitor(after.lumen)
  returned.session = visitor.session
  expect(await returned.read('/')).toContain('Signed in as <bdi>Ada Lovelace</bdi>')
  await after.interrupt()
  rmSync(folder, { recursive: true })
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
  const demo = await startDemoProcess({ PORT: '0', STORE_URL: 'redis://:secret@localhost:1' })
  const page = await fetch(/Authorization server +(\S+)/.exec(demo.printed)?.[1] ?? '')
  expect(page.status).toBe(503)
  const { code, stderr } = await demo.interrupt()
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^Redis at localhost:1 does not answer \(.+\): start it, and .*\n$/),
  ])
})

// One shell, as in a terminal: what one line keeps, the next ones use.
async function runInOneShell(commands: string[]): Promise<string[]> {
  const separator = '\n----\n'
  const script = commands.join(`\nprintf '${separator}'\n`)
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script])
  return stdout.split(separator)
}
