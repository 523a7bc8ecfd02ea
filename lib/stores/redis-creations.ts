import { RedisScript } from './redis-script'

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
