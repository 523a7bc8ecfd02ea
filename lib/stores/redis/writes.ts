import { type RedisCommands, RedisScript } from './commands'
import { connectionSettings } from './connection'

/** The writes of authorizations. Each write touches one key only. */
export interface RedisWrites {
  /**
   * Saves a record; an empty `expected` revision means a create. Resolves to 1 if the record is stored, and to 0 if
   * another writer was first.
   *
   * @param lifetime milliseconds.
   */
  save(key: string, revision: string, expected: string, record: string, lifetime: string): Promise<unknown>
  remove(key: string): Promise<unknown>
  /**
   * Resolves to 1 once the absence of the key is as durable as after a removal, and to 0 if a record exists. Undefined
   * if removals do not wait for replicas: a read that finds nothing is then proof enough.
   */
  readonly confirmAbsent?: (key: string) => Promise<unknown>
}

/** Runs a script on one key. Waits for replicas if writes do. */
export type ScriptRun = (script: RedisScript, key: string, ...words: string[]) => Promise<unknown>

// A value is the writer's revision, 22 characters, and the record. A save that is sent again, because the reply was
// lost, finds its own revision, writes the same value and succeeds. So WAIT always has a write to wait for.
export const saving = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
local revision = stored and string.sub(stored, 1, 22) or ''
if revision ~= ARGV[1] and revision ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[3], 'PX', ARGV[4])
return 1
`)

/** Makes `save` from a function that runs scripts. @param waiting milliseconds that a write may wait for replicas. */
export function savesBy(run: ScriptRun, waiting = 0): RedisWrites['save'] {
  // A create is void after the time that the store's own connection waits for a reply.
  const creations = new Creations({ run, patience: connectionSettings.commandTimeout + waiting })
  return (key, revision, expected, record, lifetime) =>
    expected === ''
      ? creations.create(key, revision, record, lifetime)
      : run(saving, key, revision, expected, record, lifetime)
}

/** Makes writes that count as done once the master has them. */
export function writesOver(client: RedisCommands): RedisWrites {
  return {
    save: savesBy((script, key, ...words) => script.run(client, key, ...words)),
    remove: (key) => client.call('DEL', key),
  }
}

// A value is the writer's revision, 22 characters, and the record. The reply is the clock of Redis in milliseconds if
// the record is stored, the negative clock if the create is void, and 0 if another writer was first. A create that
// finds its own revision succeeded before. The script then writes the same value again, so WAIT has a write to wait
// for.
const creating = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
if stored and string.sub(stored, 1, 22) ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not stored and now > tonumber(ARGV[4]) then return -now end
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
return now
`)

interface CreationPlan {
  readonly run: (script: RedisScript, key: string, ...words: string[]) => Promise<unknown>
  /** Milliseconds after the call until a create is void. */
  readonly patience: number
  /** Milliseconds of a clock that never steps. */
  readonly stopwatch?: () => number
}

/**
 * Creates authorizations. Each create has a deadline by the clock of Redis, and is void after the deadline. Otherwise a
 * late copy of the command, sent again by a client library or a device on the network, could bring back a removed
 * record.
 *
 * The clocks of process and Redis may differ. Each reply brings the time of Redis, and the next create takes its
 * deadline from this time, without a round trip of its own. If a create is void although its caller still waits, the
 * process did not know the time of Redis, or knew a wrong one. The process then sends the create again, with the time
 * of the reply.
 */
export class Creations {
  private readonly stopwatch: () => number
  /** Milliseconds by which the clock of Redis is at most ahead of the stopwatch; undefined before the first reply. */
  private ahead: number | undefined

  constructor(private readonly plan: CreationPlan) {
    this.stopwatch = plan.stopwatch ?? (() => performance.now())
  }

  /** Resolves to 1 if the record is stored, and to 0 if another writer was first. Rejects if the create is void. */
  async create(key: string, revision: string, record: string, lifetime: string): Promise<0 | 1> {
    const until = this.stopwatch() + this.plan.patience
    const attempt = () => this.attempt(until, key, revision, record, lifetime)
    const first = await attempt()
    const reply = first < 0 && this.stopwatch() < until ? await attempt() : first
    if (reply < 0) throw new Error('The record was not created: the command reached Redis too late.')
    return reply === 0 ? 0 : 1
  }

  private async attempt(until: number, key: string, ...words: readonly string[]): Promise<number> {
    const sentAt = this.stopwatch()
    const deadline = this.ahead === undefined ? 0 : Math.ceil(until + this.ahead)
    const reply = Number(await this.plan.run(creating, key, ...words, String(deadline)))
    if (!Number.isSafeInteger(reply))
      throw new Error('The Redis client replied to a script with something other than a whole number.')
    // Redis read its clock after `sentAt`. The time of a slow reply is too vague to use for the next deadline.
    const isRecent = this.stopwatch() - sentAt <= this.plan.patience
    if (reply !== 0 && isRecent) this.ahead = Math.abs(reply) - sentAt
    return reply
  }
}
