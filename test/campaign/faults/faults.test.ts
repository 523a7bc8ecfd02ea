import { randomInt } from 'node:crypto'
import { extent } from '../../support/extent'
import type { Fault, Stage } from './stage'
import { startServers, type Servers } from './trial'
import { cluster, complaintsOf, sentinel, single, tryFault, type CampaignRunner } from './try-faults'

// In milliseconds. What is judged stands still with the machine, so the whole takes as long as the machine needs.
const unhurried = 10 * 60_000
const seed = Number(process.env['FAULTS_SEED'] ?? randomInt(1_000_000))

function suite<S extends Stage>({ title, start, faults }: CampaignRunner<S>): void {
  describe(`${title} under load, tried with FAULTS_SEED=${seed}`, () => {
    let stage: S
    let servers: Servers
    beforeAll(async () => {
      stage = await start()
      servers = await startServers(stage.plan)
    }, unhurried)
    afterAll(async () => {
      await Promise.all(servers.map((server) => server.kill()))
      await stage.stop()
    })

    const cases = extent(oneOfEach(faults), faults).map((fault) => ({
      fault,
      promise: promiseOf[fault.data],
    }))
    test.each(cases)(
      '$fault.title: $promise',
      async ({ fault }) => {
        const verdict = await tryFault(fault, stage, servers, { long: false, seed })
        expect(complaintsOf(fault, verdict, servers)).toEqual([])
      },
      unhurried,
    )
  })
}

const promiseOf = {
  kept: 'nothing wins twice, nothing acknowledged is lost',
  lost: 'nothing wins twice, nothing of before is accepted',
  lagging: 'no two answers to one credential are good at once',
  forked: 'nothing wins twice, and what only guards leaves the old master',
}

/** The first fault of each promise. */
function oneOfEach<S extends Stage>(faults: readonly Fault<S>[]): readonly Fault<S>[] {
  return faults.filter(({ data }, index) => faults.findIndex((other) => other.data === data) === index)
}

suite(single)
// By default the campaign shows a cluster.
extent(
  () => {},
  () => suite(cluster),
)()
suite(sentinel)
