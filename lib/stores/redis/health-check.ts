import { isRecord, isText } from '../../primitives/values'
import { createId, secureRandom } from '../../protocol/credential'
import { adviceForShared } from '../../protocol/uri'
import { clocksApart, warningsOf } from '../../store/database-clock'
import type { StoreWarning } from '../../store/store'
import type { RedisCommands } from './redis-commands'

interface Surroundings {
  readonly client: RedisCommands
  readonly prefix: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

// What access rules hide counts as in order. `issuer` is noted below the prefix, to find others there.
export async function checkRedis(around: Surroundings, issuer = ''): Promise<readonly StoreWarning[]> {
  const { client, prefix, clock } = around
  // The other checks report errors.
  const noted = issuer === '' ? [] : otherIssuers(around, issuer).catch(() => [])
  const information = await ifAllowed(client.call('INFO'))
  const tells = (name: string) =>
    new RegExp(`^${name}:(.*)`, 'm').exec(isText(information) ? information : '')?.[1]
  const policy = tells('maxmemory_policy') ?? 'noeviction'
  // Valkey and others report the Redis version that they are compatible with.
  const version = tells('redis_version') ?? ''
  const isSplit = tells('cluster_enabled') === '1' && (await refusesKeys(client, prefix))
  const before = clock()
  const time = await ifAllowed(client.call('TIME'))
  const after = clock()
  const [seconds, microseconds] = Array.isArray(time) ? time.map(Number) : []
  const there = Number(seconds) * 1000 + Number(microseconds) / 1000
  const againstResending = settingAgainstResending(client)
  const others = await noted
  return warningsOf(
    [
      policy !== 'noeviction',
      'EAS_REDIS_EVICTION',
      `Redis has the eviction policy "${policy}": when its memory is full, it drops live tokens without notice. Set maxmemory-policy to noeviction.`,
    ],
    [
      /^(?:[0-5]|6\.[01])\./.test(version),
      'EAS_REDIS_VERSION',
      `Redis is version ${version}, and the store needs 6.2 or later, or Valkey: upgrade it.`,
    ],
    [
      tells('role') === 'slave',
      'EAS_REDIS_REPLICA',
      'The Redis client talks to a replica, which refuses every write, and whose data may be out of date. Connect to the master, or through Sentinel.',
    ],
    [
      isSplit,
      'EAS_REDIS_CLUSTER',
      'Redis is a cluster, but the client talks to one node only, which refuses the keys of the other nodes. Pass a client that supports clusters, such as redisStore({ client: new Cluster(nodes) }) with the Cluster of ioredis.',
    ],
    clocksApart('EAS_REDIS_CLOCK', 'Redis', { before, there, after }),
    [
      againstResending !== '',
      'EAS_REDIS_RESEND',
      `The Redis client sends a command again if the connection broke before the reply, so one failed attempt can count as two. Set ${againstResending} to 0, or give redisStore a url in place of the client.`,
    ],
    [
      others.length > 0,
      'EAS_SHARED_STORE',
      `The issuer ${issuer} shares the Redis prefix "${prefix}" with ${others.join(', ')}. ${adviceForShared(issuer, ...others)} If an issuer has changed its name, this warning about the old name ends after a week.`,
    ],
  )
}

// All 16 random keys belong to one of three equal nodes in one of 43 million checks.
const probes = 16

async function refusesKeys(client: RedisCommands, prefix: string): Promise<boolean> {
  const probe = () => ifAllowed(client.call('EXISTS', prefix + createId(secureRandom)))
  const answers = await Promise.allSettled(Array.from({ length: probes }, probe))
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  if (refusals.some((reason) => beginsWith(reason, 'MOVED '))) return true
  if (refusals.length > 0) throw refusals[0]
  return false
}

function settingAgainstResending(client: RedisCommands): string {
  if (!('options' in client) || !isRecord(client.options)) return ''
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest, retryDelayOnFailover } = client.options
  // A cluster's node connections do not reconnect by default. The `Cluster` client itself sends again.
  if ('isCluster' in client && client.isCluster === true)
    return retryDelayOnFailover === 0 ? '' : 'retryDelayOnFailover'
  return autoResendUnfulfilledCommands === true && maxRetriesPerRequest !== 0 ? 'maxRetriesPerRequest' : ''
}

// Access rules forbid the command, or a hosting provider has removed it.
const ifAllowed = (answer: Promise<unknown>): Promise<unknown> =>
  answer.catch((error: unknown) => {
    if (beginsWith(error, 'NOPERM ') || beginsWith(error, 'ERR unknown command')) return undefined
    throw error
  })

const beginsWith = (error: unknown, words: string): boolean =>
  error instanceof Error && error.message.startsWith(words)

// Each start renews the note, and a well-run server restarts each week.
const noteLifetime = 7 * 24 * 3600

// One field for each issuer: the time of its note, in seconds since the epoch, and its name.
async function otherIssuers(
  { client, prefix, clock }: Surroundings,
  issuer: string,
): Promise<readonly string[]> {
  const key = `${prefix}issuers`
  const now = Math.floor(clock() / 1000)
  const values = await client.call('HVALS', key)
  await client.call('HSET', key, issuer, `${now} ${issuer}`)
  const notes = (Array.isArray(values) ? values : []).map((note) => String(note).split(' ', 2))
  const others = notes.filter(([, name]) => name !== issuer)
  const isOutdated = ([noted]: readonly string[]) => Number(noted) < now - noteLifetime
  const outdated = namesOf(others.filter(isOutdated))
  if (outdated.length > 0) await client.call('HDEL', key, ...outdated)
  return namesOf(others.filter((note) => !isOutdated(note)))
}

const namesOf = (notes: readonly string[][]) => notes.map(([, name = '']) => name)
