import {
  type AuthorizationIndex,
  entriesAtMost,
  type EntryOutcome,
  type IndexEntry,
} from '../../authorization/authorization-index'
import { type RedisCommands, RedisScript } from './redis-commands'
import type { ScriptRun } from './writes'

// One sorted set for each owner. A member is the id of the authorization, 22 characters, and the client; its
// score is its end. The mark is two members, its time and its end, with negative scores, which no sweep by end
// reaches. Times are milliseconds by the clock of Redis, not of processes.
const [markTime, markEnd] = ['!at', '!end'] as const

const prelude = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local marked = redis.call('ZSCORE', KEYS[1], '${markTime}')
local markEnd = redis.call('ZSCORE', KEYS[1], '${markEnd}')
if markEnd and -markEnd <= now then
  redis.call('ZREM', KEYS[1], '${markTime}', '${markEnd}')
  marked, markEnd = false, false
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now)
local function keep()
  local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
  local ending = math.max(tonumber(last[2] or 0), markEnd and -markEnd or 0)
  if ending > 0 then redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', ending)) end
end
`

const adding = new RedisScript(`${prelude}
if marked and -marked >= now - ARGV[3] then return 'marked' end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= ${entriesAtMost} then return 'full' end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
keep()
return 'added'
`)

const marking = new RedisScript(`${prelude}
markEnd = -(now + ARGV[1])
redis.call('ZADD', KEYS[1], string.format('%.0f', -now), '${markTime}', string.format('%.0f', markEnd), '${markEnd}')
keep()
return 1
`)

const listing = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now), '+inf')
`)

// A member begins with its id.
const removing = new RedisScript(`
local gone = {}
for _, id in ipairs(ARGV) do gone[id] = true end
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if gone[string.sub(member, 1, 22)] then redis.call('ZREM', KEYS[1], member) end
end
return 1
`)

const idLength = 22

type OwnerIndex = Omit<AuthorizationIndex, 'revokeClient' | 'revokedBefore'>

export function redisIndex(client: RedisCommands, run: ScriptRun, prefix: string): OwnerIndex {
  const keyOf = (owner: string): readonly [string] => [prefix + owner]
  return {
    async add(owner, { authorizationId, clientId }, { seconds, age }) {
      const words = [authorizationId + clientId, milliseconds(seconds), milliseconds(age)]
      return outcomeOf(await run(adding, keyOf(owner), ...words))
    },
    async list(owner) {
      const members: unknown = await listing.run(client, keyOf(owner))
      if (!Array.isArray(members)) throw strangeReply()
      return members.map(entryOf)
    },
    async remove(owner, authorizationIds) {
      if (authorizationIds.length > 0) await run(removing, keyOf(owner), ...authorizationIds)
    },
    async mark(owner, seconds) {
      await run(marking, keyOf(owner), milliseconds(seconds))
    },
  }
}

const milliseconds = (seconds: number): string => String(Math.ceil(seconds * 1000))

const outcomes: readonly EntryOutcome[] = ['added', 'marked', 'full']

function outcomeOf(reply: unknown): EntryOutcome {
  const outcome = outcomes.find((known) => known === reply)
  if (outcome === undefined) throw strangeReply()
  return outcome
}

function entryOf(member: unknown): IndexEntry {
  if (typeof member !== 'string') throw strangeReply()
  return { authorizationId: member.slice(0, idLength), clientId: member.slice(idLength) }
}

const strangeReply = () => new Error('The Redis client replied to a script of the index with something else.')
