import { type RedisCommands, RedisScript } from './redis-commands'
import { connectionSettings } from './connection'
import { CreationDeadline } from '../creation-deadline'
import { markLifetime } from './removal-mark'

/** In one hash slot: the record, and the mark of its removal. */
export type RecordKeys = readonly [record: string, mark: string]

export interface RedisWrites {
  /**
   * An empty `expected` means a create. Resolves to 1 if stored, to 0 if another writer was first. Rejects a
   * void create, and a removed authorization. `lifetime` is in milliseconds.
   */
  save(
    keys: RecordKeys,
    revision: string,
    expected: string,
    record: string,
    lifetime: string,
  ): Promise<unknown>
  /** Leaves a mark that refuses a late create. */
  remove(keys: RecordKeys): Promise<unknown>
  /**
   * Resolves to 1 once the absence is as durable as after a removal, to 0 if a record exists. Undefined if
   * removals do not wait for replicas: then a read proves enough.
   */
  readonly confirmAbsent?: (record: string) => Promise<unknown>
  readonly run: ScriptRun
}

/** Waits for replicas if the writes of the store do. */
export type ScriptRun = (
  script: RedisScript,
  keys: readonly [record: string, ...more: string[]],
  ...words: string[]
) => Promise<unknown>

// A value is the writer's revision, 22 characters, and the record. A save sent again, because the reply was
// lost, writes the same value: WAIT always has a write to wait for.
const saving = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision ~= ARGV[1] and revision ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3], 'PX', ARGV[4])
return 1
`)

/** @param waiting milliseconds for replicas. */
export function savesBy(run: ScriptRun, waiting = 0): RedisWrites['save'] {
  // As long as the store's own connection waits for a reply.
  const creations = new CreationDeadline(connectionSettings.commandTimeout + waiting)
  return async (keys, revision, expected, record, lifetime) => {
    if (expected !== '') return run(saving, [keys[0]], revision, expected, record, lifetime)
    const reply = await creations.send(async (deadline) =>
      Number(await run(creating, keys, revision, record, lifetime, deadline)),
    )
    return reply === 0 ? 0 : 1
  }
}

export function writesOver(client: RedisCommands): RedisWrites {
  const run: ScriptRun = (script, keys, ...words) => script.run(client, keys, ...words)
  return { run, save: savesBy(run), remove: (keys) => removeOver(client, keys) }
}

// DEL first: a full Redis refuses SET only before the first write of a script.
export const removing = new RedisScript(`
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], '', 'PX', ${markLifetime})
return 1
`)

async function removeOver(client: RedisCommands, [record, mark]: RecordKeys): Promise<unknown> {
  try {
    return await removing.run(client, [record, mark])
  } catch (error) {
    // While a slot migrates, no script runs on two keys. The mark first: it refuses every later create. ioredis
    // gives up after 16 redirections.
    if (!(error instanceof Error) || !/TRYAGAIN|Cluster redirections/.test(error.message)) throw error
    await client.call('SET', mark, '', 'PX', String(markLifetime))
    return client.call('DEL', record)
  }
}

// Replies as `CreationDeadline.send` wants. A create that finds its own revision writes the same value
// again, for WAIT. A deadline so far ahead that a removal now would leave too short a mark makes a create void,
// too.
const creating = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
if stored and string.sub(stored, 1, 22) ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not stored then
  if redis.call('GET', KEYS[2]) then return redis.error_reply('REMOVED The authorization was removed.') end
  local left = tonumber(ARGV[4]) - now
  if left < 0 or left > ${markLifetime} then return -now end
end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return now
`)
