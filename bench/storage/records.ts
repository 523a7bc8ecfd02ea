import { connectToRedis } from '../redis-of-target'

/** The usual way of keeping tokens in Redis: one JSON text under one key that expires. */
export const redis = connectToRedis()

export async function save(key: string, value: object, seconds: number): Promise<void> {
  await redis.set(key, JSON.stringify(value), 'EX', seconds)
}

/** What was saved there by the same program: its form is the caller's to know. */
export async function find<Value>(key: string): Promise<Value | undefined> {
  const text = await redis.get(key)
  return text === null ? undefined : JSON.parse(text)
}

/** Finds and removes at once, so that of two who ask one gets it. */
export async function take<Value>(key: string): Promise<Value | undefined> {
  const text = await redis.getdel(key)
  return text === null ? undefined : JSON.parse(text)
}

export async function remove(...keys: string[]): Promise<boolean> {
  return (await redis.del(...keys)) > 0
}
