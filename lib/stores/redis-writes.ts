import type { RedisCommands } from './redis-commands'
import { connectionSettings } from './redis-connection'
import { Creations } from './redis-creations'
import { RedisScript } from './redis-script'

/** What is written of an authorization, each write on its key alone. */
export interface RedisWrites {
  /** Without an `expected` revision it is a create. Answers 1 when the record stands now, 0 when another writer was first. */
  save(key: string, revision: string, expected: string, record: string, lifetime: string): Promise<unknown>
  remove(key: string): Promise<unknown>
  /**
   * Answers 1 when nothing is there, as safely as a removal makes it, and 0 when a record is. Undefined where a removal is
   * done when Redis has it: a read that finds nothing has shown that.
   */
  readonly confirmAbsent?: (key: string) => Promise<unknown>
}

/** Runs a script on its key, and waits for whatever a write waits for. */
export type ScriptRun = (script: RedisScript, key: string, ...words: string[]) => Promise<unknown>

// A value is the writer's revision, 22 characters, and the record. Resending a save that was done finds its own
// revision: that is what makes a lost reply harmless. It writes the same again, so that WAIT has a write to wait for.
export const saving = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision ~= ARGV[1] and revision ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3], 'PX', ARGV[4])
return 1
`)

/** @param waiting milliseconds that a write may wait at the server for more than its turn. */
export function savesBy(run: ScriptRun, waiting = 0): RedisWrites['save'] {
  // A create that comes later than any command of the store's own connection is awaited is void.
  const creations = new Creations({ run, patience: connectionSettings.commandTimeout + waiting })
  return (key, revision, expected, record, lifetime) =>
    expected === ''
      ? creations.create(key, revision, record, lifetime)
      : run(saving, key, revision, expected, record, lifetime)
}

/** Writes that are done when Redis has them. */
export function writesOver(client: RedisCommands): RedisWrites {
  return {
    save: savesBy((script, key, ...words) => script.run(client, key, ...words)),
    remove: (key) => client.call('DEL', key),
  }
}
