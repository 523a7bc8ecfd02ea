import { lifetimes } from '../cast'
import { find, memory, redis, remove, save, take } from './records'

interface Text {
  readonly text: string
}

/** Texts that a peer writes and reads itself. */
export const texts =
  memory === undefined
    ? {
        get: (key: string) => redis.get(key),
        getAndDelete: (key: string) => redis.getdel(key),
        set: (key: string, value: string, seconds = lifetimes.code) => redis.set(key, value, 'EX', seconds),
        delete: (key: string) => redis.del(key).then(() => undefined),
      }
    : {
        get: async (key: string) => (await find<Text>(key))?.text ?? null,
        getAndDelete: async (key: string) => (await take<Text>(key))?.text ?? null,
        set: (key: string, text: string, seconds = lifetimes.code) =>
          save(key, { text } satisfies Text, seconds),
        delete: (key: string) => remove(key).then(() => undefined),
      }
