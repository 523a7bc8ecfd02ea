import type { RedisCommands } from '../../../lib/index'

/** A client with a mistake: creates over it are never refused. */
export const careless = (client: RedisCommands): RedisCommands => ({
  call: (command, ...words) => {
    const [name = '', ...rest] = carelessly([command, ...words])
    return client.call(name, ...rest)
  },
})

/** Stores a record as `creating` in writes.ts does, but looks at neither the deadline nor the mark of a removal. */
const carelessCreate = `
local stored = redis.call('GET', KEYS[1])
if stored and string.sub(stored, 1, 22) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return redis.call('TIME')[1] * 1000
`

/** A create is a script on two keys, with a revision, the record as JSON, its lifetime and the deadline. */
function carelessly(words: readonly string[]): readonly string[] {
  const [, , keys, key = '', , revision = '', record = '', lifetime = ''] = words
  const isCreate = words.length === 9 && keys === '2' && record.startsWith('[')
  return isCreate ? ['EVAL', carelessCreate, '1', key, revision, record, lifetime] : words
}
