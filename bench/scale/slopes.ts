import type { Authorization } from 'express-authorization-server'
import { startTarget, type RunningTarget } from '../child'
import { median } from '../figures'
import { startRedis, type RunningRedis } from '../redis'
import { prepare, type Round } from '../rounds'
import { ours } from '../stories/ours'
import type { Extent } from './extent'
import { fill, keptIn } from './fill'
import { kinds, samplesOf, type Kind } from './samples'
import { figure, whole, type Table } from './table'

/** Gigabytes of Redis. */
const memories = [1, 8, 32]

/** Whether anything grows with the number of authorizations: memory of each, and what a request takes beside them. */
export async function slopes(extent: Extent): Promise<readonly Table[]> {
  const redis = await startRedis()
  const target = await startTarget({ program: 'ours' }, redis.url)
  const samples = await samplesOf(target, redis.client)
  await latencies(target, { ...extent, rounds: 1 })
  const memory: string[][] = []
  const room: string[][] = []
  const latency: string[][] = []
  for (const kind of kinds) {
    let each = Number.NaN
    for (const size of sizesOf(kind, extent)) {
      const { keys, bytes, seconds } = await filled(redis, samples[kind], size)
      each = bytes / size
      memory.push([kind, whole(size), whole(keys), figure(bytes / 1e6), figure(each), figure(seconds)])
      if (kind !== 'code flow, refreshed')
        latency.push([kind, whole(size), ...(await latencies(target, extent))])
    }
    room.push([kind, figure(each / 1000), ...memories.map((gigabytes) => figure((gigabytes * 1000) / each))])
  }
  await target.stop()
  redis.stop()
  return [
    {
      name: 'memory',
      columns: ['authorizations of', 'number', 'keys', 'used_memory, MB', 'bytes each', 'filled in, s'],
      rows: memory,
    },
    {
      name: 'room',
      columns: [
        'authorizations of',
        'a million of them, GB',
        ...memories.map((gigabytes) => `millions in ${gigabytes} GB`),
      ],
      rows: room,
    },
    { name: 'latency', columns: ['authorizations of', 'number', ...latencyColumns], rows: latency },
  ]
}

function sizesOf(kind: Kind, { sizes, largestRefreshed }: Extent): readonly number[] {
  return kind === 'code flow, refreshed' ? sizes.filter((size) => size <= largestRefreshed) : sizes
}

async function filled(redis: RunningRedis, sample: Authorization, size: number) {
  await redis.client.flushall()
  const before = await keptIn(redis.client)
  const start = performance.now()
  await fill(redis.url, sample, size)
  const seconds = (performance.now() - start) / 1000
  const { keys, memory } = await keptIn(redis.client)
  return { keys, bytes: memory - before.memory, seconds }
}

const measured = { guard: ours.guard, 'client credentials': ours.clientCredentials }

const latencyColumns = Object.keys(measured).flatMap((name) => [
  `${name}: median, ms`,
  'p99, ms',
  'server CPU, µs',
])

// The guard first: the other one adds authorizations while it runs.
async function latencies(target: RunningTarget, { warmUp, round, rounds }: Extent): Promise<string[]> {
  const cells: string[] = []
  for (const story of Object.values(measured)) {
    if (story === undefined) continue
    const prepared = await prepare(target, story, warmUp)
    const seen: Round[] = []
    while (seen.length < rounds) seen.push(await prepared.run(round))
    prepared.close()
    cells.push(
      ...(['median', 'p99', 'cpu'] as const).map((key) => figure(median(seen.map((one) => one[key])))),
    )
  }
  return cells
}
