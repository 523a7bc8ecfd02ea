import { isRecord, OptionsReader } from '../../primitives/options-reader'
import { deadlineExpectation, isDeadline } from '../deadline'
import { type PipelinedCommands, type RedisCommands, RedisScript } from './redis-commands'
import { type RedisWrites, removing, savesBy, type ScriptRun } from './writes'

/** The option `waitForReplicas` of {@link redisStore}: how many replicas must have a write, and within what time. */
export interface ReplicaWait {
  /** Number of replicas: a whole number, at least 1. */
  readonly replicas: number
  /** Seconds, more than 0 and at most 60. Choose less than the server's `storeDeadline`, which ends every wait. */
  readonly within: number
}

// WAIT counts only the replicas that have the writes of its own connection. If the key is absent, another connection
// may have removed the record, and WAIT would wait for nothing. So the script writes and deletes an empty value. It
// removes nothing: after a failover the record may be back, and the next reader must decide on it.
const confirming = new RedisScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], '', 'PX', 1000)
redis.call('DEL', KEYS[1])
return 1
`)

/**
 * Makes writes that wait for replicas. A write that reaches too few rejects, although the master has the write.
 *
 * @param unused a key that never exists.
 */
export function acknowledgedWrites(
  client: RedisCommands & PipelinedCommands,
  { replicas, within }: ReplicaWait,
  unused: string,
): RedisWrites {
  // WAIT follows the write on the same connection. In a cluster, this connection leads to the master of the key.
  const wait = ['wait', String(replicas), String(Math.ceil(within * 1000))]

  /**
   * A replica refuses WAIT, and a script that wrote nothing has not met READONLY: a create whose deadline is unknown, or
   * a save whose record the replica does not have. So sends a write without effect. The client leaves the replica when
   * Redis refuses the write, and the error is READONLY.
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
    // The script wrote nothing, because another writer was first or the create is void. So no wait is needed.
    if (Number(reply) <= 0) return reply
    const count = Number(reached)
    if (!(count >= replicas))
      throw new Error(`The write reached ${count} of ${replicas} replicas within ${within} s.`)
    return reply
  }

  const run: ScriptRun = async (script, keys, ...words) => {
    try {
      return await attempt(script.byDigest(keys, words))
    } catch (error) {
      if (!canRepeat(error)) throw error
      // A single read follows the redirections of a cluster, so the client learns which node has the key now.
      await client.call('GET', keys[0])
      return attempt(script.whole(keys, words))
    }
  }

  return {
    run,
    save: savesBy(run, within * 1000),
    remove: (keys) => run(removing, keys),
    confirmAbsent: (key) => run(confirming, [key]),
  }
}

/**
 * Whether Redis refused the write before any change, and a repetition can succeed. While a slot migrates (`ASK`), the
 * write fails: only a single command could follow the redirection, and the write would then happen without its `WAIT`.
 */
function canRepeat(error: unknown): boolean {
  return error instanceof Error && /^(?:NOSCRIPT|MOVED) /.test(error.message)
}

/** Checks the option `waitForReplicas`, and that a client of the host has the function `pipeline`. */
export function checkReplicaWait(reading: OptionsReader, client: unknown): void {
  const value = reading.take('waitForReplicas')
  if (value === undefined) return
  const wait = new OptionsReader(value, 'waitForReplicas', reading.issues)
  wait.required('replicas', 1, isReplicas, 'must be a whole number, at least 1.')
  wait.required('within', 1, isDeadline, deadlineExpectation)
  wait.refuseUnknown()
  if (isRecord(client) && !isPipelined(client))
    reading.wrong('client', 'must have the function pipeline for waitForReplicas, as ioredis has it.')
}

/** Whether a client can send several commands back to back. */
export function isPipelined<Client extends object>(client: Client): client is Client & PipelinedCommands {
  return 'pipeline' in client && typeof client.pipeline === 'function'
}

function isReplicas(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1
}
