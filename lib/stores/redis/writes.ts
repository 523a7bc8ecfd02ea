import { type RedisCommands, RedisScript } from './commands'
import { connectionSettings } from './connection'

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

// A value is the writer's revision, 22 characters, and the record. The reply is the server's clock in milliseconds where
// the record stands now, the same below 0 where the create is void, and 0 where another writer was first. A create that
// finds its own revision was done before, and writes the same again, so that WAIT has a write to wait for.
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
  /** Milliseconds from the call on, after which a create is void. */
  readonly patience: number
  /** Milliseconds of a clock that never steps. */
  readonly stopwatch?: () => number
}

/**
 * Creates of authorizations. Each is void after its deadline, by the clock of Redis: a copy that arrives late, because a
 * client library or a box on the way has sent it again, would bring a record back that was removed meanwhile.
 *
 * The clocks of process and Redis need not agree. Each create brings the time of Redis back with it, so the next one needs
 * no question of its own. A create that is void although its caller still waits was sent without knowing that time, or
 * knowing it wrong. It is sent again, with what its reply has told.
 */
export class Creations {
  private readonly stopwatch: () => number
  /** By how much the clock of Redis is ahead of the stopwatch at most; undefined until Redis has told its time. */
  private ahead: number | undefined

  constructor(private readonly plan: CreationPlan) {
    this.stopwatch = plan.stopwatch ?? (() => performance.now())
  }

  /** Answers 1 when the record stands now, 0 when another writer was first. */
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
      throw new Error('The Redis client answers a script with something else than a whole number.')
    // Redis has looked at its clock after this was sent. A reply that took too long tells too little of that.
    const isRecent = this.stopwatch() - sentAt <= this.plan.patience
    if (reply !== 0 && isRecent) this.ahead = Math.abs(reply) - sentAt
    return reply
  }
}
