import { connectToRedis } from '../redis-of-target'
import { programInProcess } from '../target'
import { InMemory } from './in-memory'

/** The storage of a program that is measured in one process. */
export const memory = programInProcess === undefined ? undefined : new InMemory()

/** The usual way of keeping tokens in Redis: one JSON text under one key that expires. */
export const redis = connectToRedis()

export async function save(key: string, value: object, seconds: number): Promise<void> {
  if (memory === undefined) await redis.set(key, JSON.stringify(value), 'EX', seconds)
  else memory.keep(key, value, seconds)
}

/** What was saved there by the same program: its form is the caller's to know. */
export async function find<Value>(key: string): Promise<Value | undefined> {
  return memory === undefined ? parsed(await redis.get(key)) : asSaved(memory.find(key))
}

/** In a program that is measured in one process. */
export const findAtOnce = (key: string): object | undefined => memory?.find(key)

export const keepAtOnce = (key: string, value: object, seconds: number): void =>
  memory?.keep(key, value, seconds)

/** Finds and removes at once, so that of two who ask one gets it. */
export async function take<Value>(key: string): Promise<Value | undefined> {
  return memory === undefined ? parsed(await redis.getdel(key)) : asSaved(memory.take(key))
}

export async function remove(...keys: string[]): Promise<boolean> {
  if (memory === undefined) return (await redis.del(...keys)) > 0
  return keys.filter((key) => memory.remove(key)).length > 0
}

const asSaved = (value: object | undefined) => (value === undefined ? undefined : Object(value))

const parsed = (text: string | null) => (text === null ? undefined : JSON.parse(text))
