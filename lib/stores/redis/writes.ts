import { type Fields, group, kind, needed } from '../../primitives/schema'
import { isWhole } from '../../primitives/values'
import { CreationDeadline } from '../../store/database-clock'
import { aDeadline } from '../../store/deadline'
import { markSeconds, type Store } from '../../store/store'
import { connectionSettings } from './connection'
import { type PipelinedCommands, type RedisCommands, redisScript, type RunScript } from './redis-commands'

export const versionLength = 22
export const markLifetime = String(markSeconds * 1000)

// A value is the version and the text; the mark of a removal is empty. A write sent again writes the same value: WAIT
// always has a write to wait for. Replies as CreationDeadline takes it. A deadline that would outlive the mark of a
// removal makes a create void, too.
const writing = redisScript(`
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

// `waiting`: seconds for replicas.
export function writingBy(run: RunScript, waiting = 0): Store['write'] {
  // As long as the store's own connection waits.
  const creations = new CreationDeadline(connectionSettings.commandTimeout + waiting * 1000)
  return async (key, value, { version, expected, seconds }) => {
    const send = async (mode: string, against: string) =>
      clockOf(await run(writing, key, version, mode, against, value, ...endAfter(seconds)))
    if (expected !== undefined) return (await send('replace', expected)) > 0
    return creations.send((deadline) => send('create', deadline))
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

export interface ReplicaWait {
  /** A whole number, at least 1. */
  readonly replicas: number
  /** Seconds, more than 0 and at most 60. Choose less than the server's `storeDeadline`. */
  readonly within: number
}

// A write that reaches too few replicas rejects, although the master has it. `unused`: a key that never exists.
export function acknowledgedOver(
  client: RedisCommands & PipelinedCommands,
  { replicas, within }: ReplicaWait,
  unused: string,
): RunScript {
  // In a cluster, this connection leads to the master of the key.
  const wait = ['wait', String(replicas), String(Math.ceil(within * 1000))]

  // A replica refuses WAIT, but a script that wrote nothing met no READONLY: a write without effect meets it.
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

  return async ({ source, sha1 }, key, ...words) => {
    try {
      return await attempt(['evalsha', sha1, '1', key, ...words])
    } catch (error) {
      if (!canRepeat(error)) throw error
      // Follows redirections: the client learns which node has the key.
      await client.call('GET', key)
      return attempt(['eval', source, '1', key, ...words])
    }
  }
}

// Refused before any change. Not while a slot migrates (`ASK`): the write would follow the redirection without its
// `WAIT`.
const canRepeat = (error: unknown): boolean =>
  error instanceof Error && /^(?:NOSCRIPT|MOVED) /.test(error.message)

export const replicaWait = group({
  replicas: needed(1, kind(isWhole(1, Number.MAX_SAFE_INTEGER), 'must be a whole number, at least 1.')),
  within: needed(1, aDeadline),
} satisfies Fields<ReplicaWait>)

export const isPipelined = <Client extends object>(client: Client): client is Client & PipelinedCommands =>
  'pipeline' in client && typeof client.pipeline === 'function'
