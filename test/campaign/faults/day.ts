import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Memory } from '../../support/flows/start-server'
import { report, type Row } from '../../support/reliability/report'
import { growthOf } from './memory-growth'
import { oneOf, randomFrom } from './random'
import { singleFaults } from './single-faults'
import { SingleStage } from './single-stage'
import { startServers, Trial, type Servers } from './trial'

const seconds = Number(process.env['DAY_SECONDS'] ?? 600)
const rhythm = 20
// Of the last fifth over the second one. Node gives memory back late, and a fault leaves some for a while.
const mostGrowth = 0.25

/** Mixed load for DAY_SECONDS, with a fault of any kind every 20 s. DAY_SEED repeats the order of the faults. */
async function main(): Promise<void> {
  const seed = Number(process.env['DAY_SEED'] ?? randomInt(1_000_000))
  process.stdout.write(`seed ${seed}\n`)
  const stage = await SingleStage.start()
  const servers = await startServers(stage.plan)
  try {
    const rows = await live(stage, servers, seed)
    for (const row of rows) process.stdout.write(`${row.case}: ${row.rounds}, ${row.result}\n`)
    report('day', 'npm run test:day', rows)
  } finally {
    await Promise.all(servers.map((server) => server.kill()))
    await stage.stop()
  }
}

async function live(stage: SingleStage, servers: Servers, seed: number): Promise<Row[]> {
  const trial = Trial.begin(servers, stage, { seed, visitors: 8, pause: 60 })
  try {
    return await liveThrough(trial, stage, servers, randomFrom(seed))
  } finally {
    await trial.leave()
  }
}

async function liveThrough(
  trial: Trial,
  stage: SingleStage,
  servers: Servers,
  random: () => number,
): Promise<Row[]> {
  const begun = performance.now()
  const memories: Memory[][] = servers.map(() => [])
  const recoveries: number[] = []
  for (let fault = 1; fault * rhythm <= seconds; fault += 1) {
    await setTimeout(begun + (fault - 0.5) * rhythm * 1000 - performance.now())
    const [first, ...others] = singleFaults
    const chosen = oneOf(random, [first!, ...others])
    const [shortest, longest] = chosen.seconds
    const { recovery } = await trial.suffer(chosen, stage, shortest + random() * (longest - shortest))
    recoveries.push(recovery)
    process.stdout.write(`${fault}: ${chosen.title}; works again after ${recovery.toFixed(1)} s\n`)
    await setTimeout(1000)
    for (const [index, server] of servers.entries()) memories[index]?.push(await server.memory())
  }
  const { requests, troubled, slowest, violations } = await trial.end(3000)
  for (const { rule, attempt } of violations.slice(0, 20))
    process.stdout.write(`${rule}: ${JSON.stringify(attempt)}\n`)
  const growths = memories.map((samples) => growthOf(samples.map(({ rss }) => rss)))
  const alive = servers.every((server) => server.isAlive())
  if (violations.length > 0 || !alive || growths.some((growth) => growth > mostGrowth)) process.exitCode = 1
  const megabytes = memories.map((samples) => ((samples.at(-1)?.rss ?? 0) / 2 ** 20).toFixed(0))
  return [
    {
      case: `${seconds} s of mixed load, a fault every ${rhythm} s (${recoveries.length})`,
      rounds: requests,
      invariant: 'all invariants',
      result: `${violations.length} violations, ${troubled} times temporarily_unavailable, slowest answer ${slowest.toFixed(1)} s, works again after ${Math.max(...recoveries).toFixed(1)} s at most`,
    },
    {
      case: 'memory of the three processes',
      rounds: memories[0]?.length ?? 0,
      invariant: `the last fifth of the samples is at most ${mostGrowth * 100} % over the second fifth`,
      result: `${growths.map((growth) => `${(growth * 100).toFixed(1)} %`).join(' and ')}, ${megabytes.join(' and ')} MB at the end`,
    },
  ]
}

void main()
