import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chosenFor } from './chosen'
import { otherCore, pin, startTarget } from './child'
import { startRedis } from './redis'
import { prepare } from './rounds'

interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}

interface Profile {
  readonly nodes: readonly Node[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const chosen = process.argv.slice(2)
const lines = chosen[2] ?? '40'

/** Prints where a target spends its time in one workload: microseconds an operation, by function. */
async function main(): Promise<void> {
  const { target, story } = chosenFor('profile', chosen)
  pin(process, otherCore)
  const redis = await startRedis()
  const folder = await mkdtemp(join(tmpdir(), 'profile-'))
  const server = await startTarget(target, redis.url, ['--cpu-prof', '--cpu-prof-dir', folder])
  const prepared = await prepare(server, story, 1000)
  const { cpu, operations, perSecond } = await prepared.run(5000)
  prepared.close()
  await server.stop()
  redis.stop()
  console.log(folder)
  const [file = ''] = await readdir(folder)
  const profile: Profile = JSON.parse(await readFile(join(folder, file), 'utf8'))
  console.log(
    `${cpu.toFixed(1)} µs of processor time an operation, ${perSecond.toFixed(0)} a second, ${operations} in the last 5 s`,
  )
  print(profile, cpu)
}

function print({ nodes, samples, timeDeltas }: Profile, cpu: number): void {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const spent = new Map<string, number>()
  samples.forEach((id, at) => {
    const name = frames.get(id) ?? '?'
    spent.set(name, (spent.get(name) ?? 0) + (timeDeltas[at] ?? 0))
  })
  spent.delete('(idle) ')
  const total = [...spent.values()].reduce((sum, time) => sum + time, 0)
  const sorted = [...spent].toSorted(([, a], [, b]) => b - a).slice(0, Number(lines))
  for (const [name, time] of sorted) console.log(`${((time / total) * cpu).toFixed(2).padStart(8)}  ${name}`)
}

function nameOf({ functionName, url, lineNumber }: Node['callFrame']): string {
  const file = url.replace(/^.*\/node_modules\//, '').replace(/^.*\/dist\//, 'suite/')
  return `${functionName || '(anonymous)'} ${file}${file === '' ? '' : `:${lineNumber + 1}`}`
}

void main()
