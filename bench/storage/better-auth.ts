import type { DBAdapter, Where } from '@better-auth/core/db/adapter' with { 'resolution-mode': 'import' }
import { lifetimes } from '../cast'
import { find, memory as records, redis, save } from './records'

const seconds: Readonly<Record<string, number>> = {
  oauthAccessToken: lifetimes.accessToken,
  oauthRefreshToken: lifetimes.refreshToken,
}

type Adapter = DBAdapter

/**
 * Rows of tokens go to Redis, in one command each; the few other rows stay in the adapter of the peer's own that
 * keeps them in memory. That one alone would copy and scan all tokens for each request.
 */
export function tokensInRedis(memory: Adapter): Adapter {
  const adapter: Adapter = {
    ...memory,
    create: (asked) => (asked.model in seconds ? create(asked) : memory.create(asked)),
    findOne: (asked) => (asked.model in seconds ? findOne(asked) : memory.findOne(asked)),
    incrementOne: (asked) => (asked.model in seconds ? revokeOnce(asked) : memory.incrementOne(asked)),
    // To find a family of tokens would take an index: a replay is refused here, and takes no other token along.
    findMany: (asked) => (asked.model in seconds ? Promise.resolve([]) : memory.findMany(asked)),
    deleteMany: (asked) => (asked.model in seconds ? Promise.resolve(0) : memory.deleteMany(asked)),
    transaction: (callback) => callback(adapter),
  }
  return adapter
}

interface Selection {
  readonly model: string
  readonly where: readonly Where[]
}

/** The hash of a token is the id of its row, so that either finds it. */
const create: Adapter['create'] = async ({ model, data }) => {
  const row = { ...data, id: String(Object(data)['token']) }
  await save(`${model}:${row.id}`, row, seconds[model] ?? 0)
  return Object(row)
}

const findOne: Adapter['findOne'] = async (selection) => {
  if (records !== undefined) return findInMemory(keyOf(selection))
  const [row, revocation] = await redis.mget(keyOf(selection), `revoked:${keyOf(selection)}`)
  if (!row) return null
  return { ...JSON.parse(row, withDates), ...(revocation && JSON.parse(revocation, withDates)) }
}

/** The guard of a rotation: of many that revoke one row, the first does. */
const revokeOnce: Adapter['incrementOne'] = async ({ model, where, set }) => {
  const key = keyOf({ model, where })
  if (records !== undefined) return revokeInMemory(key, Object(set), seconds[model] ?? 0)
  const text = JSON.stringify(set)
  const first = await redis.set(`revoked:${key}`, text, 'EX', seconds[model] ?? 0, 'NX')
  return first ? JSON.parse(text, withDates) : null
}

async function findInMemory(key: string) {
  const row = await find<object>(key)
  return row === undefined ? null : Object({ ...row, ...(await find<object>(`revoked:${key}`)) })
}

async function revokeInMemory(key: string, set: object, lifetime: number) {
  if ((await find(`revoked:${key}`)) !== undefined) return null
  await save(`revoked:${key}`, set, lifetime)
  return Object(set)
}

function keyOf({ model, where: [where] }: Selection): string {
  if (where?.field !== 'token' && where?.field !== 'id') throw new Error(`No index: ${where?.field}`)
  return `${model}:${String(where.value)}`
}

function withDates(name: string, value: unknown): unknown {
  const isDate = /At$|^revoked$|^authTime$/.test(name) && typeof value === 'string'
  return isDate ? new Date(value) : value
}
