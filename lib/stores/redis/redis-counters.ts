import { createId, secureRandom } from '../../protocol/credential'
import type { Count, Counters } from '../../limits/counters'
import { isDone, type RedisCommands, RedisScript } from './redis-commands'

const addition = new RedisScript(`
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

// The value is the caller's random mark: a command sent again, because the reply was lost, wins again.
const spending = new RedisScript(`
local spender = redis.call('GET', KEYS[1])
if spender == ARGV[1] then return 1 end
if spender then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`)

/** @param forCounts sends each command at most once: an addition that arrives twice counts twice. */
export function redisCounters(client: RedisCommands, prefix: string, forCounts = client): Counters {
  return {
    async add(key, amount, seconds) {
      return countOf(
        await addition.run(forCounts, `${prefix}count:${key}`, String(amount), String(seconds * 1000)),
      )
    },
    async useOnce(key, seconds) {
      const words = [createId(secureRandom), String(seconds * 1000)]
      return isDone(await spending.run(client, `${prefix}spent:${key}`, ...words))
    },
  }
}

function countOf(reply: unknown): Count {
  const [count, millisecondsLeft] = Array.isArray(reply) ? reply.map(Number) : []
  if (!Number.isSafeInteger(count) || !Number.isSafeInteger(millisecondsLeft))
    throw new Error('The Redis client replied to a script with something other than two numbers.')
  return { count: Number(count), secondsLeft: Math.ceil(Number(millisecondsLeft) / 1000) }
}
