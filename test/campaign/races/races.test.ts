import { extent } from '../../support/extent'
import { seedOfRun } from '../../support/races/chance'
import { invariants } from '../../support/races/invariants'
import { roundsOfAll } from '../../support/races/plan'
import { race, type Verdict } from '../../support/races/race'
import { startServers } from '../../support/races/start-servers'
import { topologies } from '../../support/races/topologies'
import { report, type Row } from '../../support/reliability/report'

// Every pair, unless more is asked for; a seed that is told brings the same rounds again.
const rounds = Math.max(extent(roundsOfAll / 2, roundsOfAll), Number(process.env['RACES_ROUNDS'] ?? 0))
const seed = seedOfRun()
const enough = 60_000 + rounds * 200
const rows: Row[] = []

describe.each(extent(topologies.slice(0, 1), topologies))(
  `Six processes on %s, RACES_SEED=${seed}`,
  (name, start) => {
    const stops: (() => Promise<void>)[] = []
    let verdicts: readonly Verdict[] = []

    beforeAll(async () => {
      process.stderr.write(`${rounds} races on ${name}: RACES_SEED=${seed} repeats them\n`)
      const { redis, stop } = await start()
      stops.push(stop)
      const running = await startServers(redis)
      stops.unshift(running.stop)
      verdicts = await race(running.origins, { seed, rounds })
      rows.push(...verdicts.map((verdict) => rowOf(name, verdict)))
    }, enough)
    afterAll(async () => {
      for (const stop of stops) await stop()
    })

    it.each(invariants)('$title', ({ title }) => {
      const verdict = verdicts.find((one) => one.title === title)
      expect(verdict?.violations).toEqual([])
      expect(verdict?.rounds).toBeGreaterThan(0)
    })
  },
)

afterAll(() => report('races', 'npm run test:races', rows))

function rowOf(name: string, { title, rounds: judged, violations }: Verdict): Row {
  const result = violations.length === 0 ? 'held' : `broken ${violations.length} times, RACES_SEED=${seed}`
  return { case: name, rounds: judged, invariant: title, result }
}
