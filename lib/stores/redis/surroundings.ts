import { isRecord } from '../../protocol/configuration'
import { createId, secureRandom } from '../../protocol/credential'
import type { StoreWarning } from '../authorization-store'
import type { RedisCommands } from './commands'

type Information = ReadonlyMap<string, string>

/** What a look needs: the client and how its keys begin, and the clock of this process in milliseconds. */
interface Surroundings {
  readonly client: RedisCommands
  readonly prefix: string
  readonly clock: () => number
}

/**
 * Looks at what a Redis is and how it is reached. What its access rules forbid to ask is taken to be in order. Rejects when
 * it does not answer.
 *
 * @param issuer whose server or guard looks: it is noted there, to find others below the same prefix. Without it the look
 * reads and writes nothing.
 */
export async function cautionsAbout(
  { client, prefix, clock }: Surroundings,
  issuer?: string,
): Promise<readonly StoreWarning[]> {
  const others = issuer === undefined ? undefined : otherIssuersBelow({ client, prefix, clock }, issuer)
  const information = informationOf(await ifAllowed(client.call('INFO')))
  const isCluster = information.get('cluster_enabled') === '1'
  const cautions = [
    evictionOf(information),
    versionOf(information),
    roleOf(information),
    isCluster ? await clusterOf(client, prefix) : undefined,
    await clockOf(client, clock),
    resendingOf(client),
    await others,
  ]
  return cautions.filter((caution) => caution !== undefined)
}

function evictionOf(information: Information): StoreWarning | undefined {
  const policy = information.get('maxmemory_policy')
  if (policy === undefined || policy === 'noeviction') return undefined
  const message = `Redis has the eviction policy "${policy}": when its memory is full it drops live tokens, and nobody is told. Set maxmemory-policy to noeviction.`
  return { code: 'EAS_REDIS_EVICTION', message }
}

function versionOf(information: Information): StoreWarning | undefined {
  // Valkey and others name here the Redis that they are compatible with.
  const version = information.get('redis_version') ?? ''
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  if (major === undefined || Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2))
    return undefined
  const message = `Redis is version ${version}, and the store is made for 6.2 or later, Valkey included: upgrade it.`
  return { code: 'EAS_REDIS_VERSION', message }
}

function roleOf(information: Information): StoreWarning | undefined {
  if (information.get('role') !== 'slave') return undefined
  const message =
    'The Redis client talks to a replica: it refuses every write, and what it reads may be out of date. Connect to the master, or through Sentinel.'
  return { code: 'EAS_REDIS_REPLICA', message }
}

// As many random keys as no two nodes could both have to themselves: of a cluster in equal thirds, one in 40 million.
const probes = 16

async function clusterOf(client: RedisCommands, prefix: string): Promise<StoreWarning | undefined> {
  const probe = async () => ifAllowed(client.call('EXISTS', `${prefix}${createId(secureRandom)}`))
  const answers = await Promise.allSettled(Array.from({ length: probes }, probe))
  const refusals = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  if (refusals.some((reason) => beginsWith(reason, 'MOVED '))) {
    const message =
      'Redis is a cluster, and its client asks one node alone, which refuses the keys of the others: pass a client that knows clusters, such as redisStore({ client: new Cluster(nodes) }) with the Cluster of ioredis.'
    return { code: 'EAS_REDIS_CLUSTER', message }
  }
  if (refusals.length > 0) throw refusals[0]
  return undefined
}

const millisecondsApart = 5000

async function clockOf(client: RedisCommands, clock: () => number): Promise<StoreWarning | undefined> {
  const before = clock()
  const reply = await ifAllowed(client.call('TIME'))
  const after = clock()
  const [seconds, microseconds] = Array.isArray(reply) ? reply.map(Number) : []
  const redis = Number(seconds) * 1000 + Number(microseconds) / 1000
  // However long the answer took, Redis has looked at its clock in between.
  const apart = Math.max(before - redis, redis - after)
  if (!(apart > millisecondsApart)) return undefined
  const direction = redis < before ? 'ahead of' : 'behind'
  const message = `The clock of this process is ${Math.round(apart / 1000)} s ${direction} that of Redis. Tokens begin and end by the clocks of the processes that issue and guard them: keep all of these in time, with NTP.`
  return { code: 'EAS_REDIS_CLOCK', message }
}

function resendingOf(client: RedisCommands): StoreWarning | undefined {
  if (!('options' in client) || !isRecord(client.options)) return undefined
  const cure = 'isCluster' in client && client.isCluster === true ? cureOfCluster : cureOfRedis
  if (!cure.isNeeded(client.options)) return undefined
  const message = `The Redis client sends a command again whose connection broke before its reply came, so one failed attempt can count as two. ${cure.text}, or give redisStore a url in place of the client.`
  return { code: 'EAS_REDIS_RESEND', message }
}

type ServerSettings = Readonly<Record<string, unknown>>

const cureOfRedis = {
  text: 'Set maxRetriesPerRequest to 0',
  isNeeded: ({ autoResendUnfulfilledCommands, maxRetriesPerRequest }: ServerSettings) =>
    autoResendUnfulfilledCommands === true && maxRetriesPerRequest !== 0,
}

// The connections to its nodes do not reconnect unless they are told how; the client of the cluster sends again.
const cureOfCluster = {
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

// Access rules, or a hoster who took the command away.
async function ifAllowed(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch((error: unknown) => {
    if (beginsWith(error, 'NOPERM ') || beginsWith(error, 'ERR unknown command')) return undefined
    throw error
  })
}

function beginsWith(error: unknown, words: string): boolean {
  return error instanceof Error && error.message.startsWith(words)
}

// Servers restart at least that often where they are looked after; a name that was given up is forgotten as soon.
const rememberedSeconds = 7 * 24 * 3600

/** Where issuers are noted: the client and how its keys begin, and the clock of this process in milliseconds. */
interface IssuerNotes {
  readonly client: RedisCommands
  readonly prefix: string
  readonly clock: () => number
}

/**
 * Notes that this issuer works below the prefix, and tells of others that were noted there within a week. One hash has a
 * field for each issuer: the seconds of its last note and its name. Trouble with it is no news: other looks tell.
 */
export async function otherIssuersBelow(
  notes: IssuerNotes,
  issuer: string,
): Promise<StoreWarning | undefined> {
  const others = await noted(notes, issuer).catch(() => [])
  if (others.length === 0) return undefined
  const message = `The issuer ${issuer} shares the Redis prefix "${notes.prefix}" with ${others.join(', ')}. They have the same registered clients and nothing else in common: give each issuer a prefix of its own. An issuer that has changed its name is told of for a week.`
  return { code: 'EAS_SHARED_STORE', message }
}

async function noted({ client, prefix, clock }: IssuerNotes, issuer: string): Promise<readonly string[]> {
  const key = `${prefix}issuers`
  const now = Math.floor(clock() / 1000)
  const values = await client.call('HVALS', key)
  await client.call('HSET', key, issuer, `${now} ${issuer}`)
  const others = (Array.isArray(values) ? values : []).map(noteOf).filter(({ name }) => name !== issuer)
  const forgotten = others.filter(({ seconds }) => seconds < now - rememberedSeconds).map(({ name }) => name)
  if (forgotten.length > 0) await client.call('HDEL', key, ...forgotten)
  return others.map(({ name }) => name).filter((name) => !forgotten.includes(name))
}

function noteOf(value: unknown): { readonly seconds: number; readonly name: string } {
  const [seconds = '', name = ''] = String(value).split(' ', 2)
  return { seconds: Number(seconds), name }
}
