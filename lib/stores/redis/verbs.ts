import type { Count, Store } from '../../store/store'
import type { RedisReads } from './batched-reads'
import { foundText, isDone, type RedisCommands, RedisScript, textsOf } from './redis-commands'
import { type RedisWrites, versionLength } from './writes'

interface Ways {
  readonly client: RedisCommands
  readonly reads: RedisReads
  readonly writes: RedisWrites
  /** Sends each command at most once: an addition that arrives twice counts twice. */
  readonly forCounts: RedisCommands
  readonly prefix: string
}

type Verbs = Pick<Store, 'read' | 'write' | 'remove' | 'add' | 'list' | 'confirmAbsent'>

export function redisVerbs({ client, reads, writes, forCounts, prefix }: Ways): Verbs {
  const { confirmAbsent } = writes
  return {
    async read(key) {
      const text = foundText(await reads.read(prefix + key))
      if (text === undefined || text === '') return undefined
      return { value: text.slice(versionLength), version: text.slice(0, versionLength) }
    },
    async write(key, value, terms) {
      // Before the record, so that the set lacks none.
      if (terms.seconds === undefined && key.startsWith('client:'))
        await writes.run(listing, `${prefix}listed:client`, key.slice('client:'.length))
      return writes.write(prefix + key, value, terms)
    },
    async remove(key) {
      await writes.remove(prefix + key)
    },
    async add(key, amount, seconds) {
      const words = [String(amount), String(seconds * 1000)]
      return countOf(await adding.run(forCounts, `${prefix}count:${key}`, ...words))
    },
    list: async (kind) => textsOf(await client.call('SMEMBERS', `${prefix}listed:${kind}`)),
    ...(confirmAbsent && { confirmAbsent: async (key) => isDone(await confirmAbsent(prefix + key)) }),
  }
}

// SREM first, so that WAIT always has a write to wait for.
const listing = new RedisScript(`
redis.call('SREM', KEYS[1], ARGV[1])
redis.call('SADD', KEYS[1], ARGV[1])
return 1
`)

const adding = new RedisScript(`
if ARGV[1] == '-1' and redis.call('EXISTS', KEYS[1]) == 0 then return {0, 0} end
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
if count <= 0 then
  redis.call('DEL', KEYS[1])
  return {0, 0}
end
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  left = tonumber(ARGV[2])
end
return {count, left}
`)

function countOf(reply: unknown): Count {
  const [count, millisecondsLeft] = Array.isArray(reply) ? reply.map(Number) : []
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(millisecondsLeft))
    throw new Error('The Redis client replied to a script with something other than two numbers.')
  return { count: Number(count), secondsLeft: Math.ceil(Number(millisecondsLeft) / 1000) }
}
