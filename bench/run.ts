import { setMaxListeners } from 'node:events'
import { otherCore, pin, startTarget } from './child'
import { coldStarts } from './measure/cold-start'
import { commandsOf } from './measure/commands'
import { installedSizes } from './measure/installed-size'
import { memoryOf } from './measure/memory'
import { startRedis } from './redis'
import { report, type Results } from './report'
import { prepare, type Round } from './rounds'
import { servers } from './servers'
import { workloads, type Workload } from './story'

const isShort = process.argv.includes('--short')
const only = process.argv.slice(2).filter((word) => !word.startsWith('--'))
// Times in milliseconds. Two processes of one program may be a fifth apart for as long as they live, by what V8 made of
// their first requests: each server is started several times. One that slept while the others had their turns begins with
// cold caches, the larger it is the colder, as no server at work does: the beginning of a turn does not count.
const { starts, rounds, leadIn, span, warmUp } = isShort
  ? { starts: 1, rounds: 3, leadIn: 150, span: 400, warmUp: 500 }
  : { starts: 3, rounds: 9, leadIn: 150, span: 150, warmUp: 2000 }

const peers = servers.flatMap(({ role, name }) => (role === 'peer' ? [name] : []))

async function measured(
  workload: Workload,
  redisUrl: string,
): Promise<ReadonlyMap<string, readonly Round[]>> {
  const all = new Map<string, Round[]>()
  for (let start = 0; start < starts; start++)
    for (const [name, own] of await measuredOnce(workload, redisUrl))
      all.set(name, [...(all.get(name) ?? []), ...own])
  return all
}

/** Every server in turn, round by round, so that what slows the machine down for a while slows all of them down. */
async function measuredOnce(
  workload: Workload,
  redisUrl: string,
): Promise<readonly (readonly [string, readonly Round[]])[]> {
  const able = await Promise.all(
    servers.flatMap((server) => {
      const story = server.stories[workload]
      return story === undefined
        ? []
        : [startTarget(server, redisUrl).then((running) => ({ server, story, running }))]
    }),
  )
  const ready = []
  for (const { server, story, running } of able)
    ready.push({
      server,
      running,
      prepared: await prepare(running, story, warmUp),
      rounds: new Array<Round>(),
    })
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < ready.length; turn++) {
      const one = ready[(turn + round) % ready.length]
      if (one === undefined) continue
      await one.prepared.run(leadIn)
      one.rounds.push(await one.prepared.run(span))
    }
  for (const { prepared } of ready) prepared.close()
  await Promise.all(ready.map(({ running }) => running.stop()))
  return ready.map(({ server, rounds: own }) => [server.name, own])
}

async function main(): Promise<void> {
  setMaxListeners(0, process)
  pin(process, otherCore)
  const redis = await startRedis()
  await redis.client.set('photos', 'x'.repeat(300))
  const figures: Results['figures'] = new Map()
  for (const workload of workloads.filter((name) => only.length === 0 || only.includes(name)))
    figures.set(workload, await measured(workload, redis.url))
  if (only.length === 0) {
    const commands = await commandsOf(redis)
    const memory = await memoryOf(redis)
    redis.stop()
    await report({
      figures,
      peers,
      commands,
      memory,
      cold: await coldStarts(isShort ? 5 : 15),
      sizes: installedSizes(),
    })
  } else {
    redis.stop()
    await report({
      figures,
      peers,
      commands: new Map(),
      memory: new Map(),
      cold: undefined,
      sizes: new Map(),
    })
  }
}

main().catch((error: unknown) => {
  console.error(error)
  process.exit(1)
})
