import { randomInt } from 'node:crypto'
import { extent } from '../../support/extent'
import type { BrokenConnection } from '../../support/stores/broken-connections'
import { singleFaults } from './single-faults'
import { SingleStage } from './single-stage'
import { startServers, type Servers } from './trial'
import { complaintsOf, tryFault } from './try-faults'

const seed = Number(process.env['FAULTS_SEED'] ?? randomInt(1_000_000))
// Seconds: less than for a sound server, which finds back soon.
const patience = 5

const cases: readonly (readonly [BrokenConnection, string])[] = [
  ['creates that are never refused', 'delivered once more'],
  ['a server that is not asked whether it is the master', 'which is cut off'],
]

describe(`The fault suite, FAULTS_SEED=${seed}`, () => {
  let stage: SingleStage
  let servers: Servers
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await stage.stop()
  })

  it.each(extent(cases.slice(0, 1), cases))(
    'notices %s',
    async (broken, title) => {
      stage = await SingleStage.start()
      servers = await startServers({ ...stage.plan, broken })
      const fault = singleFaults.find((each) => each.title.includes(title))
      if (fault === undefined) throw new Error(`There is no fault with the title "${title}".`)
      const complaints = tryFault(fault, stage, servers, { long: false, seed, patience }).then(
        (verdict) => complaintsOf(fault, verdict, servers),
        (error: unknown) => [String(error)],
      )
      expect(await complaints).not.toEqual([])
    },
    // What is judged stands still with the machine, so the whole takes as long as the machine needs.
    10 * 60_000,
  )
})
