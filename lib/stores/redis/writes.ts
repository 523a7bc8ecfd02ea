import { markSeconds, type WriteTerms } from '../../store/store'
import { type RedisCommands, RedisScript } from './redis-commands'
import { connectionSettings } from './connection'
import { CreationDeadline } from '../../store/creation-deadline'

export interface RedisWrites {
  write(key: string, value: string, terms: WriteTerms): Promise<boolean>
  remove(key: string): Promise<unknown>
  /** Undefined if removals do not wait for replicas: then a read proves enough. */
  readonly confirmAbsent?: (key: string) => Promise<unknown>
  readonly run: ScriptRun
}

/** Waits for replicas if the writes of the store do. */
export type ScriptRun = (script: RedisScript, key: string, ...words: string[]) => Promise<unknown>

export const versionLength = 22
const markLifetime = String(markSeconds * 1000)

// A value is the version, 22 characters, and the text; the mark of a removal is empty. A write sent again, because the
// reply was lost, writes the same value: WAIT always has a write to wait for. Replies with the clock of Redis if it
// stored, negative if the create is void; 0 for a conflict, -1 for a mark. A deadline so far ahead that a removal now
// would leave too short a mark makes a create void, too.
const writing = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
local version = stored and string.sub(stored, 1, ${versionLength})
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if version ~= ARGV[1] then
  if ARGV[2] == 'replace' then
    if not version or version == '' or version ~= ARGV[3] then return 0 end
  elseif version == '' then return -1
  elseif version then return 0
  else
    local left = tonumber(ARGV[3]) - now
    if left < 0 or left > ${markLifetime} then return -now end
  end
end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[4], unpack(ARGV, 5))
return now
`)

// DEL first: a full Redis refuses SET only before the first write of a script.
const removing = new RedisScript(`
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], '', 'PX', ${markLifetime})
return 1
`)

/** @param waiting milliseconds for replicas. */
export function writesBy(run: ScriptRun, waiting = 0): RedisWrites {
  // As long as the store's own connection waits for a reply.
  const creations = new CreationDeadline(connectionSettings.commandTimeout + waiting)
  return {
    run,
    remove: (key) => run(removing, key),
    async write(key, value, { version, expected, seconds }) {
      const send = async (mode: string, against: string) =>
        clockOf(await run(writing, key, version, mode, against, value, ...endAfter(seconds)))
      if (expected !== undefined) return (await send('replace', expected)) > 0
      const state = { isMarked: false }
      const reply = await creations.send(async (deadline) => {
        const clock = await send('create', deadline)
        state.isMarked = clock === -1
        return state.isMarked ? 0 : clock
      })
      if (state.isMarked) throw new Error('The record was removed.')
      return reply > 0
    },
  }
}

function endAfter(seconds: number | undefined): readonly string[] {
  if (seconds === undefined) return []
  return seconds > 0 ? ['PX', String(Math.ceil(seconds * 1000))] : ['PXAT', '1']
}

function clockOf(reply: unknown): number {
  const clock = Number(reply)
  if (!Number.isSafeInteger(clock))
    throw new Error('The Redis client replied to a script with something other than a whole number.')
  return clock
}

export const writesOver = (client: RedisCommands): RedisWrites =>
  writesBy((script, key, ...words) => script.run(client, key, ...words))
