import { cpus } from 'node:os'
import { otherCore, pin } from './child'
import { startRedis } from './redis'
import { full, short, tiny } from './scale/extent'
import { onePrimary } from './scale/one-primary'
import { openLoop } from './scale/open-loop'
import { write } from './scale/page'
import { slopes } from './scale/slopes'
import { textOf, type Table } from './scale/table'
import { workers } from './scale/workers'

const words = process.argv.slice(2)
const extent = words.includes('--tiny') ? tiny : words.includes('--short') ? short : full
const wanted = words.filter((word) => !word.startsWith('--'))
const isWanted = (part: string) => wanted.length === 0 || wanted.includes(part)

/** Measures each part, or those that are named, and writes the tables into docs/reports/scale.md; `--print` leaves that page alone. */
async function main(): Promise<void> {
  const context = await circumstancesOfRun()
  const finish = (tables: readonly Table[]) => {
    for (const table of tables) console.log(`\n${table.name}\n${textOf(table)}`)
    if (!words.includes('--print')) write(tables, context)
  }
  // Before this process, from which others inherit, is bound to a core.
  if (isWanted('workers')) finish([await workers(extent)])
  pin(process, otherCore)
  if (isWanted('slopes')) finish(await slopes(extent))
  if (isWanted('open-loop')) finish([await openLoop(extent)])
  if (isWanted('one-primary')) finish(await onePrimary(extent))
}

async function circumstancesOfRun(): Promise<string> {
  const redis = await startRedis()
  const version = /^redis_version:(\S+)/m.exec(await redis.client.info('server'))?.[1] ?? '?'
  redis.stop()
  const [first] = cpus()
  const machine = `${cpus().length} cores (${first?.model ?? 'unknown'})`
  const date = new Date().toISOString().slice(0, 10)
  const command = [
    'npm run scale',
    ...(extent === full ? [] : ['--', extent === short ? '--short' : '--tiny']),
  ]
  const trial = extent === tiny ? ' **A trial of the harness: these figures mean nothing.**' : ''
  return `Written by \`${command.join(' ')}\` on ${date}: Node ${process.version}, Redis ${version}, ${machine}.${trial}`
}

main().catch((error: unknown) => {
  console.error(error)
  // Servers that are still running would keep this process alive; its end is theirs.
  process.exit(1)
})
