import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chosenFor } from './chosen'
import { startTarget } from './child'
import { startRedis } from './redis'
import { prepare } from './rounds'

/**
 * Prints which hidden classes V8 makes anew for each operation of a warm server. Each costs about a microsecond, lies in the
 * old generation, and is known to nothing that reads the object: a good path makes none.
 */
async function main(): Promise<void> {
  const { target, story } = chosenFor('shapes', process.argv.slice(2))
  const redis = await startRedis()
  const folder = await mkdtemp(join(tmpdir(), 'shapes-'))
  const log = join(folder, 'v8.log')
  const flags = ['--log-maps', '--no-log-maps-details', '--no-logfile-per-isolate', `--logfile=${log}`]
  const server = await startTarget(target, redis.url, ['--expose-gc', ...flags])
  const prepared = await prepare(server, story, 1500)
  const { size } = await stat(log)
  const { operations } = await prepared.run(1500)
  prepared.close()
  await server.stop()
  redis.stop()
  const made = countOf((await readFile(log, 'latin1')).slice(size))
  await rm(folder, { recursive: true })
  const lines = [...made].map(([what, count]) => ({ what, each: count / operations }))
  const frequent = lines.filter(({ each }) => each > 0.05).toSorted((a, b) => b.each - a.each)
  console.log(`${operations} operations`)
  for (const { what, each } of frequent) console.log(`${each.toFixed(2).padStart(6)}  ${what}`)
}

/** By what happened, where in its script, and to which property: `Transition 16 prototype locals`. */
function countOf(log: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of log.split('\n')) {
    const [kind, event = '', , , , , row = '', , ...rest] = line.split(',')
    if (kind !== 'map') continue
    const what = [event, `line ${row}`, ...rest].join(' ').trim()
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return counts
}

void main()
