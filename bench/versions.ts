import { execFileSync } from 'node:child_process'
import { setMaxListeners } from 'node:events'
import { join, resolve } from 'node:path'
import { otherCore, pin, runTargetsOn, startTarget, type RunningTarget } from './child'
import { median } from './figures'
import { startRedis } from './redis'
import { prepare, quietRound, type Prepared } from './rounds'
import { servers, type Server } from './servers'
import { workloads, type Story, type Workload } from './story'

// Compares this checkout with another one, row by row: both run at the same time, and take turns on one core.
//
//   npm run versions -- ../../before             every row
//   npm run versions -- ../../before guard       one workload
//   BENCH_NODES=a npm run versions -- …          on this binary of Node

const starts = 3
const rounds = 7
const leadIn = 150
const span = 300
const warmUp = 1500

/** One server in both versions. */
interface Pair {
  readonly before: Prepared
  readonly now: Prepared
  readonly running: readonly RunningTarget[]
}

/** What one row came to. Microseconds of processor time for one operation. */
interface Row {
  readonly row: string
  readonly before: number
  readonly now: number
  /** The median of the quotients of the rounds. */
  readonly ratio: number
  /** Half of the quotients lie within so much of the median. */
  readonly spread: number
}

const [other = '', ...chosen] = process.argv.slice(2)
const otherBench = resolve(other, 'bench')

async function main(): Promise<void> {
  setMaxListeners(0, process)
  pin(process, otherCore)
  const [node] = (process.env['BENCH_NODES'] ?? process.execPath).split(',')
  if (node !== undefined) runTargetsOn(node)
  // The other checkout compiles its own targets, against its own build.
  const build = "process.stdout.write(require('./build').buildTargets())"
  const programs = execFileSync(process.execPath, ['-r', 'esbuild-register', '-e', build], {
    cwd: otherBench,
    encoding: 'utf8',
  })
  const redis = await startRedis()
  const rows: Row[] = []
  for (const workload of workloads.filter((name) => chosen.length === 0 || chosen.includes(name)))
    for (const server of servers.filter(({ role }) => role === 'ours')) {
      const story = server.stories[workload]
      if (story === undefined) continue
      const row = await compared(server, workload, story, programs, redis.url)
      rows.push(row)
      console.log(JSON.stringify(row))
    }
  redis.stop()
  console.table(rows)
}

async function compared(
  server: Server,
  workload: Workload,
  story: Story,
  programs: string,
  url: string,
): Promise<Row> {
  const turns: { readonly before: number; readonly now: number }[] = []
  for (let start = 0; start < starts; start++) {
    const { before, now, running } = await startBoth(server, story, programs, url, start % 2 === 0)
    for (let round = 0; round < rounds; round++) {
      const first = round % 2 === 0 ? before : now
      const second = first === before ? now : before
      const cpuOfFirst = await turn(first)
      const cpuOfSecond = await turn(second)
      turns.push(
        first === before
          ? { before: cpuOfFirst, now: cpuOfSecond }
          : { before: cpuOfSecond, now: cpuOfFirst },
      )
    }
    before.close()
    now.close()
    for (const target of running) await target.stop()
  }
  const quotients = turns.map(({ before, now }) => now / before)
  const ratio = median(quotients)
  return {
    row: `${workload}, ${server.name}`,
    before: rounded(median(turns.map(({ before }) => before)), 1),
    now: rounded(median(turns.map(({ now }) => now)), 1),
    ratio: rounded(ratio, 3),
    spread: rounded(median(quotients.map((quotient) => Math.abs(quotient - ratio))), 3),
  }
}

async function startBoth(
  server: Server,
  story: Story,
  programs: string,
  url: string,
  beforeFirst: boolean,
): Promise<Pair> {
  const start = async (program: string) => {
    const target = await startTarget({ ...server, program }, url)
    return { target, prepared: await prepare(target, story, warmUp) }
  }
  const old = join(programs, server.program)
  const one = await start(beforeFirst ? old : server.program)
  const two = await start(beforeFirst ? server.program : old)
  const [before, now] = beforeFirst ? [one, two] : [two, one]
  return { before: before.prepared, now: now.prepared, running: [one.target, two.target] }
}

async function turn(prepared: Prepared): Promise<number> {
  await prepared.run(leadIn)
  return (await quietRound(prepared, span)).cpu
}

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))

void main()
