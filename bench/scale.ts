import { cpus } from 'node:os'
import { otherCore, pin } from './child'
import { startRedis } from './redis'
import { full, short, tiny } from './scale/extent'
import { onePrimary } from './scale/one-primary'
import { openLoop } from './scale/open-loop'
import { slopes } from './scale/slopes'
import type { Table } from './scale/table'
import { table } from './table'
import { workers } from './scale/workers'

const words = process.argv.slice(2)
const extent = words.includes('--tiny') ? tiny : words.includes('--short') ? short : full
const wanted = words.filter((word) => !word.startsWith('--'))
const isWanted = (part: string) => wanted.length === 0 || wanted.includes(part)

/** Measures each part, or those that are named, and prints the tables. */
async function main(): Promise<void> {
  console.log(await circumstancesOfRun())
  // Before this process, from which others inherit, is bound to a core.
  if (isWanted('workers')) print([await workers(extent)])
  pin(process, otherCore)
  if (isWanted('slopes')) print(await slopes(extent))
  if (isWanted('open-loop')) print([await openLoop(extent)])
  if (isWanted('one-primary')) print(await onePrimary(extent))
}

function print(tables: readonly Table[]): void {
  for (const { name, columns, rows } of tables) console.log(`\n### ${name}\n\n${table(columns, rows)}`)
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
  return `Printed by \`${command.join(' ')}\` on ${date}: Node ${process.version}, Redis ${version}, ${machine}.${trial}`
}

main().catch((error: unknown) => {
  console.error(error)
  // Servers that are still running would keep this process alive; its end is theirs.
  process.exit(1)
})
