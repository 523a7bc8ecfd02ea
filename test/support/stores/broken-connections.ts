import type { RedisCommands } from '../../../lib/paths/redis'

/** A client with a mistake: creates over it are never refused. */
export const careless = (client: RedisCommands): RedisCommands => ({
  call: (command, ...words) => {
    const [name = '', ...rest] = carelessly([command, ...words])
    return client.call(name, ...rest)
  },
})

/** Stores a record as `writing` in writes.ts does, but looks at neither the deadline nor the mark of a removal. */
const carelessCreate = `
local stored = redis.call('GET', KEYS[1])
if stored and stored ~= '' and string.sub(stored, 1, 22) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], unpack(ARGV, 3))
return redis.call('TIME')[1] * 1000
`

/** A create is a script on one key, with a version, its name, the deadline, the value and its end. */
function carelessly(words: readonly string[]): readonly string[] {
  const [, , , key = '', version = '', mode, , value = '', ...end] = words
  return mode === 'create' ? ['EVAL', carelessCreate, '1', key, version, value, ...end] : words
}
