import { startTarget, type RunningTarget } from '../child'
import { KeptConnection } from '../connection'
import { startRedis } from '../redis'
import { prepare } from '../rounds'
import { ours } from '../stories/ours'
import type { Story } from '../story'
import { arrive, type Arrivals } from './arrivals'
import type { Extent } from './extent'
import { figure, percent, whole, type Table } from './table'

const loads = [0.4, 0.6, 0.8]
const connections = 128

const measured = { guard: ours.guard, 'client credentials': ours.clientCredentials }

/** How long requests take that come at a fixed rate, as parts of the most that the same server did just before. */
export async function openLoop(extent: Extent): Promise<Table> {
  const nothing = Array.from({ length: connections }, () => async () => {})
  const itself = await arrive(nothing, 5000, extent.open)
  const rows = [['none: the generator itself', '', ...cellsOf(itself)]]
  const redis = await startRedis()
  for (const [name, story] of Object.entries(measured)) {
    if (story === undefined) continue
    const target = await startTarget({ program: 'ours' }, redis.url)
    for (const cells of await atAllLoads(target, story, extent)) rows.push([name, ...cells])
    await target.stop()
    await redis.client.flushall()
  }
  redis.stop()
  return {
    name: 'open-loop',
    columns: ['requests', 'load', 'a second', 'p50, ms', 'p99, ms', 'p99.9, ms', 'generator busy'],
    rows,
  }
}

async function atAllLoads(
  target: RunningTarget,
  story: Story,
  { warmUp, round, open }: Extent,
): Promise<string[][]> {
  const prepared = await prepare(target, story, Math.max(warmUp, round))
  const { perSecond } = await prepared.run(round)
  prepared.close()
  const opened = await Promise.all(
    Array.from({ length: connections }, () => KeptConnection.open(target.port)),
  )
  const operations = await Promise.all(opened.map(story))
  const rows: string[][] = []
  for (const load of loads) {
    const seen = await arrive(operations, perSecond * load, open)
    rows.push([percent(load), ...cellsOf(seen)])
  }
  for (const connection of opened) connection.close()
  return rows
}

function cellsOf({ perSecond, median, p99, p999, generatorBusy }: Arrivals): string[] {
  return [whole(perSecond), ...[median, p99, p999].map(figure), percent(generatorBusy)]
}
