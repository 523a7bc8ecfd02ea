import { aDeadline } from '../../store/deadline'
import { isWhole } from '../../primitives/values'
import { type Fields, group, kind, needed } from '../../primitives/schema'
import { type PipelinedCommands, type RedisCommands, RedisScript } from './redis-commands'
import { type RedisWrites, type ScriptRun, writesBy } from './writes'

export interface ReplicaWait {
  /** A whole number, at least 1. */
  readonly replicas: number
  /** Seconds, more than 0 and at most 60. Choose less than the server's `storeDeadline`, which ends every wait. */
  readonly within: number
}

// WAIT counts only writes of its own connection. If another connection removed the key, WAIT would wait for
// nothing: so the script writes the mark again, or writes and deletes an empty value. It removes no record: after a
// failover one may be back, and the next reader must decide on it.
const confirming = new RedisScript(`
local stored = redis.call('GET', KEYS[1])
if stored == '' then
  redis.call('SET', KEYS[1], '', 'KEEPTTL')
  return 1
end
if stored then return 0 end
redis.call('SET', KEYS[1], '', 'PX', 1000)
redis.call('DEL', KEYS[1])
return 1
`)

/**
 * A write that reaches too few replicas rejects, although the master has it.
 *
 * @param unused a key that never exists.
 */
export function acknowledgedWrites(
  client: RedisCommands & PipelinedCommands,
  { replicas, within }: ReplicaWait,
  unused: string,
): RedisWrites {
  // In a cluster, this connection leads to the master of the key.
  const wait = ['wait', String(replicas), String(Math.ceil(within * 1000))]

  /**
   * A replica refuses WAIT, but a script that wrote nothing (a create without a known deadline, a save of a
   * record that the replica lacks) met no READONLY. A write without effect meets it, and the client leaves.
   */
  async function leaveReplica({ message }: Error): Promise<void> {
    if (message.startsWith('ERR ')) await client.call('DEL', unused)
  }

  async function attempt(command: string[]): Promise<unknown> {
    const [write, waited] = (await client.pipeline([command, wait]).exec()) ?? []
    if (write === undefined || waited === undefined)
      throw new Error(
        'The Redis client replied to a pipeline with something other than one reply for each command.',
      )
    const [[failure, reply], [waitFailure, reached]] = [write, waited]
    if (failure) throw failure
    if (waitFailure) {
      await leaveReplica(waitFailure)
      throw waitFailure
    }
    // Another writer was first, or the create is void.
    if (Number(reply) <= 0) return reply
    const count = Number(reached)
    if (!(count >= replicas))
      throw new Error(`The write reached ${count} of ${replicas} replicas within ${within} s.`)
    return reply
  }

  const run: ScriptRun = async (script, key, ...words) => {
    try {
      return await attempt(script.byDigest(key, words))
    } catch (error) {
      if (!canRepeat(error)) throw error
      // A single read follows redirections: the client learns which node has the key.
      await client.call('GET', key)
      return attempt(script.whole(key, words))
    }
  }

  return { ...writesBy(run, within * 1000), confirmAbsent: (key) => run(confirming, key) }
}

/**
 * Refused before any change. Not while a slot migrates (`ASK`): only a single command follows the redirection,
 * so the write would happen without its `WAIT`.
 */
const canRepeat = (error: unknown): boolean =>
  error instanceof Error && /^(?:NOSCRIPT|MOVED) /.test(error.message)

export const replicaWait = group({
  replicas: needed(1, kind(isWhole(1, Number.MAX_SAFE_INTEGER), 'must be a whole number, at least 1.')),
  within: needed(1, aDeadline),
} satisfies Fields<ReplicaWait>)

export const isPipelined = <Client extends object>(client: Client): client is Client & PipelinedCommands =>
  'pipeline' in client && typeof client.pipeline === 'function'
