import type { KeyStore } from '../key-store'
import { foundText, isDone, type RedisCommands, RedisScript } from './redis-commands'
import type { ScriptRun } from './writes'

// A value is the writer's revision, 22 characters, and the text. A save sent again writes the same value: WAIT
// always has a write to wait for.
const saving = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision ~= ARGV[1] and revision ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3])
return 1
`)

const revisionLength = 22

export function redisKeys(client: RedisCommands, run: ScriptRun, prefix: string): KeyStore {
  return {
    async find(name) {
      const value = foundText(await client.call('GET', prefix + name))
      if (value === undefined) return undefined
      return { text: value.slice(revisionLength), revision: value.slice(0, revisionLength) }
    },
    async save(name, text, revision, expected = '') {
      return isDone(await run(saving, [prefix + name], revision, expected, text))
    },
  }
}
