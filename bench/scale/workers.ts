import { startTarget, type RunningTarget } from '../child'
import { median } from '../figures'
import { startRedis } from '../redis'
import { prepare, type Round } from '../rounds'
import { ours } from '../stories/ours'
import type { Extent } from './extent'
import { figure, whole, type Table } from './table'

const measured = { 'client credentials': ours.clientCredentials, guard: ours.guard }

/** What a second process brings. Nothing is pinned: servers, Redis and generator share the cores. */
export async function workers(extent: Extent): Promise<Table> {
  const redis = await startRedis('anywhere')
  const rows: string[][] = []
  for (const count of [1, 2]) {
    const environment = { WORKERS: String(count) }
    const server = { program: 'ours-workers', environment }
    const target = await startTarget(server, redis.url, [], 'anywhere')
    for (const row of await throughputs(target, extent)) rows.push([whole(count), ...row])
    await target.stop()
    await redis.client.flushall()
  }
  redis.stop()
  return {
    name: 'workers',
    columns: ['workers', 'requests', 'a second', 'CPU of all workers, µs each'],
    rows,
  }
}

async function throughputs(target: RunningTarget, { warmUp, round, rounds }: Extent): Promise<string[][]> {
  const rows: string[][] = []
  for (const [name, story] of Object.entries(measured)) {
    if (story === undefined) continue
    const prepared = await prepare(target, story, Math.max(warmUp, round))
    const seen: Round[] = []
    while (seen.length < rounds) seen.push(await prepared.run(round))
    prepared.close()
    const of = (key: keyof Round) => median(seen.map((one) => one[key]))
    rows.push([name, whole(of('perSecond')), figure(of('cpu'))])
  }
  return rows
}
