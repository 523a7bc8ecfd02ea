import { execFileSync } from 'node:child_process'
import { setMaxListeners } from 'node:events'
import { parseArgs } from 'node:util'
import { otherCore, pin, runTargetsOn, startTarget } from './child'
import { extentOf } from './extent'
import { coldStarts } from './measure/cold-start'
import { commandsOf } from './measure/commands'
import { memoryOf } from './measure/memory'
import { startRedis, type RunningRedis } from './redis'
import { plotRun } from './plot-of-run'
import { report, sortedByNode, type Extras, type Results } from './report'
import { prepare, quietRound, type Round } from './rounds'
import { keepRun, readRun } from './results-file'
import { servers } from './servers'
import { workloads, type Workload } from './story'

const extent = extentOf(process.argv)
const flag = { type: 'boolean' } as const
const { values, positionals: only } = parseArgs({
  allowPositionals: true,
  options: { from: { type: 'string' }, plot: { type: 'string' }, medium: flag, short: flag, tiny: flag },
})
const isWhole = only.length === 0
/** The binaries of Node that the servers run on, in the order of the report. */
const nodes = (process.env['BENCH_NODES'] ?? process.execPath).split(',')
const majorOf = (node: string) => Number.parseInt(versionOf(node), 10)
// From Node 24 on, `createServer` returns Node's own server.
const isCreateServerToo = nodes.some((node) => majorOf(node) < 24)
const measuredServers = servers.filter(
  ({ variant }) =>
    (variant !== 'not gathered' || extent.isNotGatheredToo) &&
    (variant !== 'on createServer' || isCreateServerToo),
)

async function measured(
  workload: Workload,
  redisUrl: string,
): Promise<ReadonlyMap<string, readonly Round[]>> {
  const all = new Map<string, Round[]>()
  for (let start = 0; start < extent.starts; start++)
    for (const [name, own] of await measuredOnce(workload, redisUrl))
      all.set(name, [...(all.get(name) ?? []), ...own])
  return all
}

/** Every server in turn, round by round, so that what slows the machine down for a while slows all of them down. */
async function measuredOnce(
  workload: Workload,
  redisUrl: string,
): Promise<readonly (readonly [string, readonly Round[]])[]> {
  const ready = []
  // One after the other: they share a core, and many starts at once let connections time out.
  for (const server of measuredServers) {
    const story = server.stories[workload]
    if (story === undefined) continue
    const running = await startTarget(server, redisUrl)
    const prepared = await prepare(running, story, extent.warmUp)
    ready.push({ server, running, prepared, rounds: new Array<Round>() })
  }
  for (let round = 0; round < extent.rounds; round++)
    for (let turn = 0; turn < ready.length; turn++) {
      const one = ready[(turn + round) % ready.length]
      if (one === undefined) continue
      await one.prepared.run(extent.leadIn)
      one.rounds.push(await quietRound(one.prepared, extent.span))
    }
  for (const { prepared } of ready) prepared.close()
  await Promise.all(ready.map(({ running }) => running.stop()))
  return ready.map(({ server, rounds: own }) => [server.name, own])
}

async function measuredOn(node: string, redis: RunningRedis): Promise<Results> {
  runTargetsOn(node)
  const figures: Results['figures'] = new Map()
  for (const workload of workloads.filter((name) => isWhole || only.includes(name)))
    figures.set(workload, await measured(workload, redis.url))
  return { node: versionOf(node), figures, cold: isWhole ? await coldStarts(extent.coldStarts) : undefined }
}

function versionOf(node: string): string {
  return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim()
}

async function main(): Promise<void> {
  if (values.from !== undefined) {
    const { results, extras } = readRun(values.from)
    finish(results, extras)
    return
  }
  setMaxListeners(0, process)
  pin(process, otherCore)
  const redis = await startRedis()
  await redis.client.set('photos', 'x'.repeat(300))
  const results = []
  for (const node of nodes) results.push(await measuredOn(node, redis))
  const extras = isWhole ? { commands: await commandsOf(redis), memory: await memoryOf(redis) } : undefined
  redis.stop()
  finish(results, extras)
  if (extras !== undefined) console.log(`Kept in ${keepRun({ results, extras })}.`)
}

function finish(results: readonly Results[], extras: Extras | undefined): void {
  report(extent, results, extras)
  const [newest] = sortedByNode(results)
  if (values.plot !== undefined && newest !== undefined) plotRun(newest, values.plot)
}

main().catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
