import { setTimeout } from 'node:timers/promises'
import { Chance } from '../support/chance'
import { waitUntil } from '../support/wait-until'
import type { FaultTable } from './faults'
import type { Loss, Span } from './history'
import type { RunPlan } from './plan'
import type { Processes } from './processes'
import type { Recorder } from './recorder'
import type { Stage } from './stages/stage'

// Requests of a run in which nothing breaks, at least.
const enough = 400

interface Means<S extends Stage> {
  readonly stage: S
  readonly table: FaultTable<S>
  readonly processes: Processes
  readonly prefix: string
  /** Seconds after which a process that does not serve again is given up. */
  readonly recovery?: number
}

/** The faults of a run, and what they did. */
export class Breakdown<S extends Stage> {
  readonly losses: Loss[] = []
  /** When a process was dead or stopped: who waits for its answer then gets none. */
  readonly outages: Span[] = []
  readonly complaints: string[] = []
  private readonly queues = new Map<string, Promise<unknown>>()

  constructor(
    private readonly plan: RunPlan,
    private readonly means: Means<S>,
  ) {}

  /** Lets everything break, and waits until each process serves again. */
  async happen(recorder: Recorder): Promise<void> {
    const { faults } = this.plan
    if (faults.length === 0)
      return waitUntil('enough was asked', async () => recorder.attempts.length >= enough, 600)
    await Promise.all(faults.map((fault) => this.suffer(fault)))
    // What rested must serve again by itself, without others whose writes show it that Redis has moved.
    await this.recovered(recorder)
    recorder.resting = undefined
    await setTimeout(150)
  }

  /** Resolves when each write that is late has come. */
  async allArrived(): Promise<void> {
    await Promise.all(this.means.stage.ways.flat().map((network) => network.allArrived()))
  }

  /** One fault. Those that touch the same thing come one after the other. */
  private async suffer({ name, at, lasts, process, seed }: RunPlan['faults'][number]): Promise<void> {
    const { means, losses } = this
    const fault = means.table[name]
    if (fault === undefined) throw new Error(`There is no fault "${name}" here.`)
    await setTimeout(at)
    const happen = async (): Promise<void> => {
      const begun = performance.now()
      const end = await fault.begin({
        ...means,
        place: process,
        way: means.stage.ways[process === 0 ? 0 : 1],
        lasts,
        chance: new Chance(seed),
        // A loss without a known end ends when every process serves again.
        lose: (of, from, until, registrationsOnly = false) =>
          losses.push({
            of,
            from,
            to: until === undefined ? performance.now() : Infinity,
            registrationsOnly,
          }),
      })
      await setTimeout(lasts)
      await end()
      if (fault.touches === 'process') this.outages.push({ from: begun, to: performance.now() })
    }
    if (fault.touches === undefined) return happen()
    const thing = fault.touches === 'process' ? `process ${process}` : fault.touches
    const turn = (this.queues.get(thing) ?? Promise.resolve()).then(happen)
    this.queues.set(thing, turn)
    return turn
  }

  /** Waits until each process has gone the whole way twice in a row. */
  private async recovered(recorder: Recorder): Promise<void> {
    const { recovery = 60 } = this.means
    // A connection that only reads asks once a second whether its server is still the master.
    if (this.losses.some(({ of }) => of === 'reads')) await setTimeout(1100)
    const deadline = performance.now() + recovery * 1000
    for (let good = 0, rounds = 0; good < 2; rounds += 1) {
      const works = await Promise.all([0, 1].map((server) => wholeWay(recorder, server)))
      good = works.every(Boolean) ? good + 1 : 0
      // A process that is only slow comes to no such number of attempts.
      if (performance.now() > deadline && rounds > 2 * recovery) {
        this.complaints.push(`process ${works.indexOf(false)} did not serve again in ${recovery} s`)
        break
      }
      if (good === 0) await setTimeout(Math.min(20 * rounds, 300))
    }
    const to = performance.now()
    for (const [index, loss] of this.losses.entries())
      if (loss.to === Infinity) this.losses[index] = { ...loss, to }
  }
}

/** A registration that is used, and an authorization from its question to a refresh: whether every answer was the good one. */
async function wholeWay(recorder: Recorder, server: number): Promise<boolean> {
  const [registered, line] = [recorder.newLine(), recorder.newLine()]
  const registration = await recorder.attempt(server, registered, 'register', '')
  if (registration.kind !== 'granted') return false
  const [client = ''] = registration.credentials
  if ((await recorder.attempt(server, registered, 'authenticate', client)).kind !== 'accepted') return false
  let credentials: readonly string[] = ['']
  for (const act of ['ask', 'decide', 'redeem', 'refresh'] as const) {
    const answer = await recorder.attempt(server, line, act, credentials.at(-1) ?? '')
    if (answer.kind !== 'granted') return false
    credentials = answer.credentials
  }
  return (await recorder.attempt(server, line, 'guard', credentials[0] ?? '')).kind === 'accepted'
}
