import { pin, otherCore, startTarget } from './child'
import { median, medianRatio } from './figures'
import { startRedis } from './redis'
import { prepare, type Round } from './rounds'
import { workloads } from './story'
import { servers } from './servers'

const [only = '', names = '', rounds = '3', span = '1000'] = process.argv.slice(2)
async function main() {
  pin(process, otherCore)
  const redis = await startRedis()
  await redis.client.set('photos', 'x'.repeat(300))
  const chosen = servers.filter(({ name }) => names === '' || names.split(';').includes(name))
  const running = await Promise.all(
    chosen.map(async (target) => ({ target, server: await startTarget(target, redis.url) })),
  )
  for (const workload of workloads.filter((name) => only === '' || name === only)) {
    const able = []
    for (const { target, server } of running) {
      const story = target.stories[workload]
      if (story === undefined) continue
      const prepared = await prepare(server, story, 1000)
      able.push({ target, prepared, rounds: [] as Round[] })
    }
    for (let i = 0; i < Number(rounds); i++)
      for (const one of able) one.rounds.push(await one.prepared.run(Number(span)))
    for (const { target, rounds, prepared } of able) {
      const of = (k: keyof Round) => median(rounds.map((r) => r[k])).toFixed(2)
      console.log(
        workload.padEnd(18),
        target.name.padEnd(42),
        'cpu',
        of('cpu'),
        'rps',
        of('perSecond'),
        'busy',
        of('serverBusy'),
        'gen',
        of('generatorBusy'),
        'p50',
        of('median'),
        'p99',
        of('p99'),
      )
      prepared.close()
    }
  }
  await Promise.all(running.map(({ server }) => server.stop()))
  redis.stop()
}
void main()
