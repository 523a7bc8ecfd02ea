import type { Authorization } from 'express-authorization-server'
import { startTarget, type RunningTarget } from '../child'
import { median } from '../figures'
import { startRedis, type RunningRedis } from '../redis'
import { prepare, type Round } from '../rounds'
import { ours } from '../stories/ours'
import type { Extent } from './extent'
import { fill, memoryOf } from './fill'
import { kinds, samplesOf } from './samples'
import { figure, whole, type Table } from './table'

/** Gigabytes of Redis. */
const memory = 8

/** Whether anything grows with the number of authorizations: memory of each, and what a request takes beside them. */
export async function slopes(extent: Extent): Promise<readonly Table[]> {
  const redis = await startRedis()
  const target = await startTarget({ program: 'ours' }, redis.url)
  const samples = await samplesOf(target, redis.client)
  await latencies(target, { ...extent, rounds: 1 })
  const bytes: string[][] = []
  const latency: string[][] = []
  for (const kind of kinds)
    for (const size of kind === 'code flow, refreshed' ? extent.refreshedSizes : extent.sizes) {
      const each = await bytesOfEach(redis, samples[kind], size)
      bytes.push([kind, whole(size), figure(each), figure((memory * 1000) / each)])
      if (kind === 'code flow') latency.push([whole(size), ...(await latencies(target, extent))])
    }
  await target.stop()
  redis.stop()
  return [
    {
      name: 'memory',
      columns: ['authorizations of', 'number', 'bytes each', `millions in ${memory} GB`],
      rows: bytes,
    },
    { name: 'latency', columns: ['code flows', ...latencyColumns], rows: latency },
  ]
}

async function bytesOfEach(redis: RunningRedis, sample: Authorization, size: number): Promise<number> {
  await redis.client.flushall()
  const before = await memoryOf(redis.client)
  await fill(redis.url, sample, size)
  return ((await memoryOf(redis.client)) - before) / size
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
