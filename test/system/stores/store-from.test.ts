import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { postgresSchema } from 'express-authorization-server/postgres'
import { storeFrom } from 'express-authorization-server/stores'
import { bundled } from '../../support/bundled'
import { photoBook } from '../../support/flows/clients'
import { authorizationRequest, Flow } from '../../support/flows/flow'
import { outcomeOf } from '../../support/flows/outcome'
import { codeOf } from '../../support/flows/redirection'
import { requireNode } from '../../support/nodes'
import { startPostgres } from '../../support/postgres-server'
import { startRedis } from '../../support/redis-server'
import { type RunningProgram, startProgram } from '../../support/start-program'
import type { NamedStorePlan } from '../../support/stores/named-store-process'
import { random22 } from '../../support/stores/records'

const folder = mkdtempSync(join(tmpdir(), 'named-store-'))
const opened: { stop(): Promise<unknown> }[] = []
const programs: RunningProgram[] = []
afterEach(() => Promise.all(programs.splice(0).map((program) => program.kill())))
afterAll(async () => {
  await Promise.all(opened.map((each) => each.stop()))
  rmSync(folder, { recursive: true })
})

/** A URL of Redis, and of PostgreSQL with its tables. */
async function inRedis(): Promise<string> {
  const server = await startRedis()
  opened.push(server)
  return `${server.url}?prefix=shop:`
}

async function inPostgres(): Promise<string> {
  const server = await startPostgres()
  opened.push(server)
  const pool = new Pool({ connectionString: server.url })
  await pool.query(`create schema shop; ${postgresSchema({ schema: 'shop', table: 'oauth' })}`)
  await pool.end()
  return `${server.url}?schema=shop&table=oauth`
}

const host = join(__dirname, '../../support/stores/named-store-process.ts')

async function start(url: string | undefined, plan: NamedStorePlan) {
  const program = await startProgram(host, plan, requireNode(24), { STORE_URL: url })
  programs.push(program)
  return { program, flow: new Flow(program.url) }
}

/** What the command finds there. */
function listedAt(url: string): unknown {
  const words = [bundled(join(__dirname, '../../../lib/command-line/main.ts')), 'client', 'list', '--json']
  const listed = execFileSync(requireNode(24), [...words, '--store', url], { encoding: 'utf8' })
  return JSON.parse(listed)
}

const ask = (flow: Flow) => flow.ask(authorizationRequest(photoBook), 'alice')

test.each([
  ['a file', async () => `file:${join(folder, 'oauth.db')}`],
  ['Redis', inRedis],
  ['PostgreSQL', inPostgres],
])(
  'a server on storeFrom(process.env) keeps clients, consents and tokens over a restart, and the command finds them, in %s',
  async (_place, open) => {
    const url = await open()
    const before = await start(url, { registers: true })
    const tokens = await before.flow.tokens(photoBook)
    expect((await before.flow.photos(tokens.accessToken)).status).toBe(200)
    // What it opened does not keep it alive.
    expect([await before.program.terminate(), before.program.output()]).toEqual([
      0,
      expect.stringMatching(/^port \d+\n$/),
    ])

    const { flow } = await start(url, { registers: false })
    expect((await flow.photos(tokens.accessToken)).status).toBe(200)
    expect(outcomeOf(await flow.refresh(photoBook, tokens.refreshToken))).toBe('tokens')
    const code = codeOf(await ask(flow))
    expect(outcomeOf(await flow.redeem(photoBook, code))).toBe('tokens')
    expect(listedAt(url)).toEqual([expect.objectContaining({ client_id: 'photo-book' })])
  },
)

test('storeFrom() takes the prefix of every key from the query', async () => {
  const url = await inRedis()
  const [store, client] = [storeFrom({ STORE_URL: url }), new Redis(url.replace(/\?.*/, ''))]
  await store.write('a:key', '7', { version: random22() })
  expect(await client.keys('*')).toEqual(['shop:a:key'])
  await store.close?.()
  client.disconnect()
})

test('a copy of the file by VACUUM INTO, made while a server runs, is a store that knows its tokens', async () => {
  const [path, copy] = ['busy.db', 'copy.db'].map((name) => join(folder, name))
  const before = await start(`file:${path}`, { registers: true })
  const tokens = await before.flow.tokens(photoBook)
  const later = before.flow.tokens(photoBook, {}, 'bob')
  const program = `new (require('node:sqlite').DatabaseSync)('${path}').exec("VACUUM INTO '${copy}'")`
  await promisify(execFile)(requireNode(24), ['--no-warnings', '-e', program])
  await later
  const { flow } = await start(`file:${copy}`, { registers: false })
  expect((await flow.photos(tokens.accessToken)).status).toBe(200)
  expect(outcomeOf(await flow.refresh(photoBook, tokens.refreshToken))).toBe('tokens')
})

test('a server on storeFrom(process.env) without STORE_URL answers a code flow, and keeps nothing', async () => {
  const before = await start(undefined, { registers: true })
  const tokens = await before.flow.tokens(photoBook)
  expect((await before.flow.photos(tokens.accessToken)).status).toBe(200)
  expect(await before.program.terminate()).toBe(0)

  const { flow } = await start(undefined, { registers: true })
  expect((await flow.photos(tokens.accessToken)).status).toBe(401)
  expect(outcomeOf(await ask(flow))).toBe('question')
})
