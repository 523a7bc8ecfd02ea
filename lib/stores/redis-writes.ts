import type { RedisCommands } from './redis-commands'
import { RedisScript } from './redis-script'

/** The two writes of an authorization, each on its key alone. */
export interface RedisWrites {
  /** Answers 1 when the record stands now, 0 when another writer was first. */
  save(key: string, revision: string, expected: string, record: string, lifetime: string): Promise<unknown>
  remove(key: string): Promise<unknown>
}

// A value is the writer's revision, 22 characters, and the record. Resending a save that was done finds its own
// revision: that is what makes a lost reply harmless. It writes the same again, so that WAIT has a write to wait for.
export const saving = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision ~= ARGV[1] and revision ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3], 'PX', ARGV[4])
return 1
`)

/** Writes that are done when Redis has them. */
export function writesOver(client: RedisCommands): RedisWrites {
  return {
    async save(key, revision, expected, record, lifetime) {
      // What begins needs no script, unless something is there already: it may be this very save, sent again.
      if (
        expected === '' &&
        (await client.call('SET', key, revision + record, 'NX', 'PX', lifetime)) === 'OK'
      )
        return 1
      return saving.run(client, key, revision, expected, record, lifetime)
    },
    remove: (key) => client.call('DEL', key),
  }
}
