import { isRecord } from '../../primitives/values'
import { createId, secureRandom } from '../../protocol/credential'
import { adviceForShared } from '../../protocol/uri'
import type { WarningCode } from '../../protocol/warning-code'
import { clockWarning } from '../../store/database-clock'
import type { StoreWarning } from '../../store/store'
import type { RedisCommands } from './redis-commands'

export interface RedisWarning extends StoreWarning {
  readonly code: WarningCode
}

type Information = ReadonlyMap<string, string>

interface Surroundings {
  readonly client: RedisCommands
  readonly prefix: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/**
 * Assumes a setting in order if access rules forbid the command that reads it. Rejects if Redis does not
 * respond.
 *
 * @param issuer noted below the prefix, to find others there. Without it, the check touches no notes.
 */
export async function checkRedis(
  { client, prefix, clock }: Surroundings,
  issuer?: string,
): Promise<readonly RedisWarning[]> {
  const others = issuer === undefined ? undefined : otherIssuersBelow({ client, prefix, clock }, issuer)
  const information = informationOf(await ifAllowed(client.call('INFO')))
  const isCluster = information.get('cluster_enabled') === '1'
  const warnings = [
    evictionOf(information),
    versionOf(information),
    roleOf(information),
    isCluster ? await clusterOf(client, prefix) : undefined,
    await clockOf(client, clock),
    resendingOf(client),
    await others,
  ]
  return warnings.filter((warning) => warning !== undefined)
}

function evictionOf(information: Information): RedisWarning | undefined {
  const policy = information.get('maxmemory_policy')
  if (policy === undefined || policy === 'noeviction') return undefined
  const message = `Redis has the eviction policy "${policy}": when its memory is full, it drops live tokens without notice. Set maxmemory-policy to noeviction.`
  return { code: 'EAS_REDIS_EVICTION', message }
}

function versionOf(information: Information): RedisWarning | undefined {
  // Valkey and others report the Redis version that they are compatible with.
  const version = information.get('redis_version') ?? ''
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  if (major === undefined || Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2))
    return undefined
  const message = `Redis is version ${version}, and the store needs 6.2 or later, or Valkey: upgrade it.`
  return { code: 'EAS_REDIS_VERSION', message }
}

function roleOf(information: Information): RedisWarning | undefined {
  if (information.get('role') !== 'slave') return undefined
  const message =
    'The Redis client talks to a replica, which refuses every write, and whose data may be out of date. Connect to the master, or through Sentinel.'
  return { code: 'EAS_REDIS_REPLICA', message }
}

// All 16 random keys belong to one of three equal nodes in one of 43 million checks.
const probes = 16

async function clusterOf(client: RedisCommands, prefix: string): Promise<RedisWarning | undefined> {
  const probe = async () => ifAllowed(client.call('EXISTS', `${prefix}${createId(secureRandom)}`))
  const answers = await Promise.allSettled(Array.from({ length: probes }, probe))
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  if (refusals.some((reason) => beginsWith(reason, 'MOVED '))) {
    const message =
      'Redis is a cluster, but the client talks to one node only, which refuses the keys of the other nodes. Pass a client that supports clusters, such as redisStore({ client: new Cluster(nodes) }) with the Cluster of ioredis.'
    return { code: 'EAS_REDIS_CLUSTER', message }
  }
  if (refusals.length > 0) throw refusals[0]
  return undefined
}

async function clockOf(client: RedisCommands, clock: () => number): Promise<RedisWarning | undefined> {
  const before = clock()
  const reply = await ifAllowed(client.call('TIME'))
  const after = clock()
  const [seconds, microseconds] = Array.isArray(reply) ? reply.map(Number) : []
  const there = Number(seconds) * 1000 + Number(microseconds) / 1000
  return clockWarning('EAS_REDIS_CLOCK', 'Redis', { before, there, after })
}

function resendingOf(client: RedisCommands): RedisWarning | undefined {
  if (!('options' in client) || !isRecord(client.options)) return undefined
  const fix = 'isCluster' in client && client.isCluster === true ? fixForCluster : fixForRedis
  if (!fix.isNeeded(client.options)) return undefined
  const message = `The Redis client sends a command again if the connection broke before the reply, so one failed attempt can count as two. ${fix.text}, or give redisStore a url in place of the client.`
  return { code: 'EAS_REDIS_RESEND', message }
}

type ServerSettings = Readonly<Record<string, unknown>>

const fixForRedis = {
  text: 'Set maxRetriesPerRequest to 0',
  isNeeded: ({ autoResendUnfulfilledCommands, maxRetriesPerRequest }: ServerSettings) =>
    autoResendUnfulfilledCommands === true && maxRetriesPerRequest !== 0,
}

// A cluster's node connections do not reconnect by default. The `Cluster` client itself sends again.
const fixForCluster = {
  text: 'Set retryDelayOnFailover to 0',
  isNeeded: ({ retryDelayOnFailover }: ServerSettings) => retryDelayOnFailover !== 0,
}

function informationOf(answer: unknown): Information {
  const lines = typeof answer === 'string' ? answer.split('\r\n') : []
  return new Map(lines.map((line) => pairOf(line)))
}

function pairOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, Math.max(0, colon)), line.slice(colon + 1)]
}

// Access rules forbid the command, or a hosting provider has removed it.
async function ifAllowed(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch((error: unknown) => {
    if (beginsWith(error, 'NOPERM ') || beginsWith(error, 'ERR unknown command')) return undefined
    throw error
  })
}

const beginsWith = (error: unknown, words: string): boolean =>
  error instanceof Error && error.message.startsWith(words)

// Each start renews the note, and a well-run server restarts at least once a week.
const noteLifetime = 7 * 24 * 3600

interface IssuerNotes {
  readonly client: RedisCommands
  readonly prefix: string
  readonly clock: () => number
}

/**
 * One hash has a field for each issuer: its name, and the time of its note, in seconds since the epoch. Ignores
 * errors, which the other checks report.
 */
async function otherIssuersBelow(notes: IssuerNotes, issuer: string): Promise<RedisWarning | undefined> {
  const others = await noteIssuer(notes, issuer).catch(() => [])
  if (others.length === 0) return undefined
  const message = `The issuer ${issuer} shares the Redis prefix "${notes.prefix}" with ${others.join(', ')}. ${adviceForShared(issuer, ...others)} If an issuer has changed its name, this warning about the old name ends after a week.`
  return { code: 'EAS_SHARED_STORE', message }
}

async function noteIssuer(
  { client, prefix, clock }: IssuerNotes,
  issuer: string,
): Promise<readonly string[]> {
  const key = `${prefix}issuers`
  const now = Math.floor(clock() / 1000)
  const values = await client.call('HVALS', key)
  await client.call('HSET', key, issuer, `${now} ${issuer}`)
  const others = (Array.isArray(values) ? values : []).map(noteOf).filter(({ name }) => name !== issuer)
  const outdated = others.filter(({ seconds }) => seconds < now - noteLifetime).map(({ name }) => name)
  if (outdated.length > 0) await client.call('HDEL', key, ...outdated)
  return others.map(({ name }) => name).filter((name) => !outdated.includes(name))
}

function noteOf(value: unknown): { readonly seconds: number; readonly name: string } {
  const [seconds = '', name = ''] = String(value).split(' ', 2)
  return { seconds: Number(seconds), name }
}
