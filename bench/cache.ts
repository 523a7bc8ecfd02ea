import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { otherCore, pin, startTarget } from './child'
import { extentOf } from './extent'
import { median } from './figures'
import { startRedis } from './redis'
import { table } from './table'
import { prepare, type Round } from './rounds'
import { onCreateServer, servers } from './servers'
import type { Workload } from './story'

const extent = extentOf(process.argv)
const compared = new Set(['suite', 'suite with cache'].map(onCreateServer))

/** Prints what the cache for guards costs and brings: with Redis on this machine, and with 1 ms on the way to it. */
async function main(): Promise<void> {
  pin(process, otherCore)
  const rows = []
  for (const delay of [0, 1])
    for (const workload of ['guard', 'clientCredentials'] as const)
      rows.push(...(await compare(workload, delay)))
  const columns = ['workload', 'to Redis', 'server', 'CPU µs', 'a second', 'ms, one request at a time']
  const date = new Date().toISOString().slice(0, 10)
  const text = `A ${extent.name} run of \`npm run cache\` on ${date}, Node ${process.versions.node}.\n\n${table(columns, rows)}`
  console.log(text)
}

async function compare(workload: Workload, delay: number): Promise<readonly (readonly string[])[]> {
  const redis = await startRedis()
  const way = await startDelay(Number(new URL(redis.url).port), delay)
  const ready = []
  for (const { name, ...server } of servers.filter((one) => compared.has(one.name))) {
    const story = server.stories[workload]
    if (story === undefined) continue
    const running = await startTarget(server, way.url)
    const prepared = await prepare(running, story, extent.warmUp)
    ready.push({ name, running, prepared, together: new Array<Round>(), alone: new Array<Round>() })
  }
  // In turns: what slows the machine down for a while slows both down.
  for (let round = 0; round < extent.rounds * 3; round++)
    for (const { prepared, together, alone } of ready) {
      await prepared.run(extent.leadIn)
      together.push(await prepared.run(extent.span))
      alone.push(await prepared.runAlone(extent.span))
    }
  const rows = ready.map(({ name, together, alone }) => [
    workload,
    `${delay} ms`,
    name,
    middle(together, 'cpu').toFixed(0),
    middle(together, 'perSecond').toFixed(0),
    middle(alone, 'median').toFixed(2),
  ])
  for (const { prepared, running } of ready) {
    prepared.close()
    await running.stop()
  }
  way.stop()
  redis.stop()
  return rows
}

const middle = (rounds: readonly Round[], figure: keyof Round) => median(rounds.map((one) => one[figure]))

/** A way to Redis in a process of its own, so that its work is not counted as the server's. */
async function startDelay(redisPort: number, delay: number) {
  const child = fork(join(__dirname, 'measure/delaying-proxy.ts'), {
    execArgv: ['-r', 'esbuild-register'],
    env: { ...process.env, BENCH_PORT: String(redisPort), BENCH_DELAY: String(delay) },
  })
  pin(child, otherCore)
  const [port]: unknown[] = await once(child, 'message')
  return { url: `redis://127.0.0.1:${String(port)}`, stop: () => child.disconnect() }
}

main().catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
