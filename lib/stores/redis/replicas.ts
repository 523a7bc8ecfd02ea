import { isRecord, OptionsReader } from '../../protocol/configuration'
import { deadlineCure, isDeadline } from '../deadline'
import { type PipelinedCommands, type RedisCommands, RedisScript } from './commands'
import { type RedisWrites, savesBy } from './writes'

/** How many replicas must have a write before it counts as done. */
export interface ReplicaWait {
  /** At least 1. */
  readonly replicas: number
  /** Seconds, more than 0 and at most 60; less than the server's `storeDeadline`, which ends every wait. */
  readonly within: number
}

// WAIT counts replicas that have what its own connection wrote. Where nothing is there, a write that leaves no trace
// stands in for a removal, which another connection may have made: else WAIT would have nothing to wait for.
const traceless = `
redis.call('SET', KEYS[1], '', 'PX', 1000)
redis.call('DEL', KEYS[1])
return 1
`
const removing = new RedisScript(`if redis.call('DEL', KEYS[1]) == 1 then return 1 end${traceless}`)
// What came back since it was not found, by a failover, is left to whoever reads it.
const confirming = new RedisScript(`if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end${traceless}`)

/** Writes that are done when so many replicas have them, too; with fewer they reject, though Redis has them. */
export function acknowledgedWrites(
  client: RedisCommands & PipelinedCommands,
  { replicas, within }: ReplicaWait,
): RedisWrites {
  // Behind the write on the same connection, which in a cluster is one to the node that keeps the key.
  const wait = ['wait', String(replicas), String(Math.ceil(within * 1000))]

  async function attempt(command: string[]): Promise<unknown> {
    const [write, waited] = (await client.pipeline([command, wait]).exec()) ?? []
    if (write === undefined || waited === undefined)
      throw new Error(
        'The Redis client answers a pipeline with something else than one reply to each command.',
      )
    for (const [error] of [write, waited]) if (error) throw error
    // Nothing was written: another writer was first, or a create is void. That promises nothing.
    if (Number(write[1]) <= 0) return write[1]
    const reached = Number(waited[1])
    if (!(reached >= replicas))
      throw new Error(`The write reached ${reached} of ${replicas} replicas within ${within} s.`)
    return write[1]
  }

  async function run(script: RedisScript, key: string, ...words: string[]): Promise<unknown> {
    try {
      return await attempt(script.byDigest(key, words))
    } catch (error) {
      if (!isSentBack(error)) throw error
      // A read alone follows the redirections of a cluster, by which its client learns where the key is now.
      await client.call('GET', key)
      return attempt(script.whole(key, words))
    }
  }

  return {
    save: savesBy(run, within * 1000),
    remove: (key) => run(removing, key),
    confirmAbsent: (key) => run(confirming, key),
  }
}

/**
 * Whether Redis did nothing and says why. While a slot migrates (`ASK`) that stays so, and is trouble: only a single
 * command could follow there, and a write without its `WAIT` would be done and reported as failed.
 */
function isSentBack(error: unknown): boolean {
  return error instanceof Error && /^(?:NOSCRIPT|MOVED) /.test(error.message)
}

/** Reads the option, and whether the client that came with it can wait. */
export function checkReplicaWait(reading: OptionsReader, client: unknown): void {
  const value = reading.take('waitForReplicas')
  if (value === undefined) return
  const wait = new OptionsReader(value, 'waitForReplicas', reading.issues)
  wait.required('replicas', 1, isReplicas, 'must be a whole number, at least 1.')
  wait.required('within', 1, isDeadline, deadlineCure)
  wait.refuseUnknown()
  if (isRecord(client) && !isPipelined(client))
    reading.wrong('client', 'must have the function pipeline for waitForReplicas, as ioredis has it.')
}

export function isPipelined<Client extends object>(client: Client): client is Client & PipelinedCommands {
  return 'pipeline' in client && typeof client.pipeline === 'function'
}

function isReplicas(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1
}
