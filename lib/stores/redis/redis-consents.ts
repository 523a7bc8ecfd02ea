import { consentsAtMost, type ConsentStore, longestDecision } from '../../authorization/consent-store'
import { foundText, isDone, type RedisCommands, RedisScript } from './redis-commands'
import type { ScriptRun } from './writes'

// One hash for each owner. A field is `c` and the client; its value is the end, a colon and the text. The field
// `!` is the time of the last `forget`. Times are milliseconds by the clock of Redis, not of processes.
const fieldOf = (clientId: string) => `c${clientId}`
const longestMark = longestDecision * 1000

const prelude = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function endOf(value) return tonumber(string.sub(value, 1, string.find(value, ':', 1, true) - 1)) end
local function keepUntil(ending)
  local left = redis.call('PTTL', KEYS[1])
  if left > 0 then ending = math.max(ending, now + left) end
  redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', ending))
end
`

const timing = new RedisScript(`${prelude}
return now
`)

const finding = new RedisScript(`${prelude}
local value = redis.call('HGET', KEYS[1], ARGV[1])
if not value or endOf(value) <= now then return false end
return string.sub(value, string.find(value, ':', 1, true) + 1)
`)

const listing = new RedisScript(`${prelude}
local all, found = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  if all[i] ~= '!' and endOf(all[i + 1]) > now then
    table.insert(found, string.sub(all[i], 2))
    table.insert(found, string.sub(all[i + 1], string.find(all[i + 1], ':', 1, true) + 1))
  end
end
return found
`)

// The owner was read at ARGV[4], by the clock of Redis. However late a copy arrives, a newer mark refuses it,
// and it is void before the mark ends.
const remembering = new RedisScript(`${prelude}
local read = tonumber(ARGV[4])
local mark = redis.call('HGET', KEYS[1], '!')
if read < now - ${longestMark} or (mark and tonumber(mark) >= read) then return 0 end
if not redis.call('HGET', KEYS[1], ARGV[1]) and redis.call('HLEN', KEYS[1]) >= ${consentsAtMost} then
  local first, firstEnd, count = nil, nil, 0
  local all = redis.call('HGETALL', KEYS[1])
  for i = 1, #all, 2 do
    if all[i] ~= '!' then
      local ending = endOf(all[i + 1])
      if ending <= now then redis.call('HDEL', KEYS[1], all[i])
      else
        count = count + 1
        if not first or ending < firstEnd then first, firstEnd = all[i], ending end
      end
    end
  end
  if count >= ${consentsAtMost} then redis.call('HDEL', KEYS[1], first) end
end
local ending = now + ARGV[3]
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', ending) .. ':' .. ARGV[2])
keepUntil(ending)
return 1
`)

// The removal first: a full Redis refuses HSET only before the first write of a script.
const forgetting = new RedisScript(`${prelude}
if ARGV[1] then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], '!', string.format('%.0f', now))
keepUntil(now + ${longestMark})
return 1
`)

export function redisConsents(client: RedisCommands, run: ScriptRun, prefix: string): ConsentStore {
  const keyOf = (owner: string): readonly [string] => [prefix + owner]
  return {
    async find(owner, clientId) {
      return foundText(await finding.run(client, keyOf(owner), fieldOf(clientId)))
    },
    async list(owner) {
      const found: unknown = await listing.run(client, keyOf(owner))
      if (!Array.isArray(found) || !found.every((part): part is string => typeof part === 'string'))
        throw new Error('The Redis client replied to a script of consents with something other than texts.')
      return found.flatMap((clientId, at) =>
        at % 2 === 0 ? [{ clientId, consent: found[at + 1] ?? '' }] : [],
      )
    },
    async remember(owner, clientId, consent, { seconds, age }) {
      const askedAt = performance.now()
      const now = Number(await timing.run(client, keyOf(owner)))
      // Redis read its clock before now, so the owner was read no earlier than the result.
      const readAt = Math.floor(now - (performance.now() - askedAt) - age * 1000)
      if (!Number.isSafeInteger(readAt))
        throw new Error('The Redis client replied to a script with something other than a number.')
      const words = [fieldOf(clientId), consent, milliseconds(seconds), String(readAt)]
      return isDone(await run(remembering, keyOf(owner), ...words))
    },
    async forget(owner, clientId) {
      await run(forgetting, keyOf(owner), ...(clientId === undefined ? [] : [fieldOf(clientId)]))
    },
  }
}

const milliseconds = (seconds: number): string => String(Math.ceil(seconds * 1000))
