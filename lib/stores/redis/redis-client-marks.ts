import type { AuthorizationIndex } from '../../authorization/authorization-index'
import type { RedisReads } from './batched-reads'
import { RedisScript } from './redis-commands'
import type { ScriptRun } from './writes'

// The value is the time of the mark. A second mark keeps the later time and the later end.
const marking = new RedisScript(`
local at = math.max(tonumber(redis.call('GET', KEYS[1]) or ARGV[1]), tonumber(ARGV[1]))
local lifetime = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[2]))
redis.call('SET', KEYS[1], string.format('%.0f', at), 'PX', string.format('%.0f', lifetime))
return 1
`)

const wholeSeconds = /^\d+$/

type ClientMarkVerbs = Pick<AuthorizationIndex, 'revokeClient' | 'revokedBefore'>

/** @param reads as authorizations are read: a replica that was the master must not hide a mark from a guard. */
export function redisClientMarks(reads: RedisReads, run: ScriptRun, prefix: string): ClientMarkVerbs {
  return {
    async revokeClient(client, at, seconds) {
      await run(marking, [prefix + client], String(at), String(Math.ceil(seconds * 1000)))
    },
    async revokedBefore(client) {
      const value = await reads.read(prefix + client)
      if (value === null || value === undefined) return undefined
      if (typeof value === 'string' && wholeSeconds.test(value)) return Number(value)
      throw new Error('The Redis client replied to GET with something other than the mark of a client.')
    },
  }
}
