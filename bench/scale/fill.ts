import { encodeAuthorization, type Authorization } from 'express-authorization-server'
import { redisStore, type RedisStore } from 'express-authorization-server/redis'
import type { Redis } from 'ioredis'
import { randomFillSync } from 'node:crypto'
import { keyOf, secondsOf } from './record'

const atOnce = 1000

/** Fills Redis with that many copies of an authorization, each under an id of its own, by the suite's own store. */
export async function fill(redisUrl: string, sample: Authorization, count: number): Promise<void> {
  const store = redisStore({ url: redisUrl })
  for (let done = 0; done < count; done += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, count - done) }, () => add(store, sample)))
  await store.close()
}

async function add(store: RedisStore, sample: Authorization): Promise<void> {
  const authorization = { ...sample, id: random22() }
  const terms = { version: random22(), seconds: secondsOf(authorization) }
  if (!(await store.write(keyOf(authorization), encodeAuthorization(authorization), terms)))
    throw new Error(`${authorization.id} was there already.`)
}

const randomBytes = Buffer.alloc(16)

// In the form of the library's own ids and versions.
function random22(): string {
  return randomFillSync(randomBytes).toString('base64url')
}

/** Bytes that Redis uses, without the buffers of its connections. */
export async function memoryOf(redis: Redis): Promise<number> {
  const info = await redis.info('memory')
  return numberOf(info, 'used_memory') - numberOf(info, 'mem_clients_normal')
}

/** A number that `INFO` tells. */
export function numberOf(info: string, name: string): number {
  return Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1])
}
