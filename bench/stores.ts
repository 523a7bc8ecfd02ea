// What a verb of a store costs this process, and what an authorization takes: `STORE_URL=file:./bench.db npm run stores`, and so
// for each URL of `storeFrom()`; PostgreSQL needs `npx express-authorization-server migrate` before. Needs Node 24.
import { createHash, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { encodeAuthorization } from 'express-authorization-server'
import { storeFrom } from 'express-authorization-server/stores'
import { record } from './record'

const calls = 20_000
const callers = 64
const url = process.env['STORE_URL'] ?? ''
const store = storeFrom(process.env)

const bytes = Buffer.from(encodeAuthorization(record))
const seconds = 3600
const run = randomBytes(6).toString('hex')
const versionOf = (label: string) => label.padEnd(22, '-')
const keyOf = (index: number) =>
  `authorization:${createHash('sha256').update(`${run} ${index}`).digest('base64url').slice(0, 22)}`

async function write(index: number, version: string, expected?: string): Promise<void> {
  const terms = { version: versionOf(version), expected: expected && versionOf(expected), seconds }
  // Each has a text of its own.
  if (!(await store.write(keyOf(index), bytes.toString(), terms)))
    throw new Error('The store refused a write.')
}

const verbs: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
  'write that creates': (index) => write(index, 'first'),
  read: (index) => store.read(keyOf(index)),
  'write that replaces': (index) => write(index, 'second', 'first'),
  add: (index) => store.add(`${run} ${index % 500}`, 1, 60),
  remove: (index) => store.remove(keyOf(index)),
}

/** Each caller makes its calls one after the other. */
async function inTurns(
  perform: (index: number) => Promise<unknown>,
  width: number,
  total: number,
): Promise<void> {
  let next = 0
  const caller = async () => {
    while (next < total) await perform(next++)
  }
  await Promise.all(Array.from({ length: width }, caller))
}

/** Bytes that everything takes. */
async function size(): Promise<number> {
  if (url.startsWith('file:')) return statSync(url.slice('file:'.length)).size
  if (url === '') {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
  if (url.startsWith('redis')) {
    const { Redis } = await import('ioredis')
    const redis = new Redis(url)
    const [, used] = /used_memory:(\d+)/.exec(await redis.info('memory')) ?? []
    redis.disconnect()
    return Number(used)
  }
  const { Client } = await import('pg')
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ size: string }>(
    "select pg_total_relation_size('oauth_records') as size",
  )
  await client.end()
  return Number(rows[0]?.size)
}

async function main(): Promise<void> {
  await inTurns((index) => store.read(keyOf(index)), callers, calls / 4)
  const before = await size()
  for (const [verb, perform] of Object.entries(verbs)) {
    const [cpu, start] = [process.cpuUsage(), performance.now()]
    await inTurns(perform, callers, calls)
    const { user, system } = process.cpuUsage(cpu)
    const rate = (calls / (performance.now() - start)) * 1000
    console.log(`| ${verb} | ${((user + system) / calls).toFixed(0)} µs | ${rate.toFixed(0)} a second |`)
    if (verb !== 'write that creates') continue
    const taken = (await size()) - before
    console.log(`${bytes.length} bytes of JSON take ${(taken / calls).toFixed(0)} bytes`)
  }
  await store.close?.()
}

void main()
