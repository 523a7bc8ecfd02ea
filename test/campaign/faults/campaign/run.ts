import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { PlantedDefect } from '../../../support/stores/planted-defects'
import type { BrokenConnection } from '../../../support/stores/broken-connections'
import { wrongAnswers } from '../availability'
import { overlaps, type Attempt, type Loss, type Span } from '../history'
import { consistencyViolations } from '../judge'
import { randomFrom } from '../random'
import { Recorder } from '../recorder'
import { wholeWay } from '../trial'
import type { CampaignStage } from './campaign-stage'
import { CampaignVisitor } from './campaign-visitor'
import { finalReads } from './final-reads'
import type { FaultName, PlannedFault, RunPlan } from './plan'
import type { CampaignFault, End, FaultTable } from './campaign-fault'
import { TwoProcesses } from './two-processes'
import { clockSteps } from './usual-faults'

// Seconds.
const storeDeadline = 1
const refreshTokenGrace = 30
// Milliseconds. Far above everything that a run lasts: what is late is not judged here.
const patience = 120_000
const pause = 20

/** What is planted into the processes, for tests of the campaign itself. */
export interface Planted {
  readonly defect?: PlantedDefect
  readonly connection?: BrokenConnection
  /** Whether writes wait for no replica although they should. */
  readonly waitsForNothing?: boolean
}

/** What came of a run. */
export interface Outcome {
  readonly plan: RunPlan
  readonly requests: number
  readonly troubled: number
  /** Writes that came late. */
  readonly late: number
  /** Each broken invariant, in words, with what shows it. */
  readonly broken: readonly string[]
}

/** On which terms a run goes. */
export interface Terms {
  readonly planted?: Planted
  /** Seconds after which a process that does not serve again is given up. Default 20. */
  readonly recovery?: number
}

interface Means<S extends CampaignStage> extends Terms {
  readonly stage: S
  readonly table: FaultTable<S>
}

/** One run of the campaign, on a stage that is whole and empty. */
export async function run<S extends CampaignStage>(plan: RunPlan, means: Means<S>): Promise<Outcome> {
  const { stage, planted = {} } = means
  const prefix = `campaign:${randomUUID()}:`
  const processes = await TwoProcesses.start(serverPlans(stage, prefix, planted))
  const recorder = new Recorder(processes.urls, undefined, patience)
  processes.recorder = recorder
  try {
    return await new Run(plan, means, processes, recorder, prefix).outcome()
  } finally {
    recorder.close()
    await processes.stop()
  }
}

function serverPlans(stage: CampaignStage, prefix: string, planted: Planted) {
  const { defect, connection, waitsForNothing = false } = planted
  const usual = { prefix, refreshTokenGrace, storeDeadline, forMachines: true, maximumClients: 100_000 }
  const [one, other] = stage.plans.map((plan) => {
    const { waitForReplicas, ...rest } = plan
    const redis = waitsForNothing || waitForReplicas === undefined ? rest : plan
    return {
      ...usual,
      redis: connection === undefined ? redis : { ...redis, broken: connection },
      ...(defect === undefined ? {} : { planted: defect }),
    }
  })
  if (one === undefined || other === undefined) throw new Error('There are two processes.')
  return [one, other] as const
}

class Run<S extends CampaignStage> {
  private readonly losses: Loss[] = []
  /** When a process was dead or stopped: who waits for its answer then gets none. */
  private readonly outages: Span[] = []
  private readonly complaints: string[] = []
  private readonly queues = new Map<string, Promise<unknown>>()
  private readonly stop = new AbortController()
  private readonly lateBefore: number

  constructor(
    private readonly plan: RunPlan,
    private readonly means: Means<S>,
    private readonly processes: TwoProcesses,
    private readonly recorder: Recorder,
    private readonly prefix: string,
  ) {
    this.lateBefore = this.late()
  }

  async outcome(): Promise<Outcome> {
    const { plan, recorder } = this
    const { visitors, habits, mix, seed, resting } = plan
    recorder.resting = resting
    const rhythm = { pause, signal: this.stop.signal }
    const visits = Array.from({ length: visitors }, (_, index) =>
      new CampaignVisitor(recorder, randomFrom(seed * 1000 + index), rhythm, habits, mix).stay(),
    )
    try {
      await Promise.all(plan.faults.map((fault) => this.suffer(fault)))
      // What rested must serve again by itself, without others whose writes show it that Redis has moved.
      await this.recovered()
      recorder.resting = undefined
      await setTimeout(150)
    } finally {
      this.stop.abort()
      await Promise.all(visits)
    }
    await Promise.all(this.ways.map((network) => network.allArrived()))
    await finalReads(recorder)
    return {
      plan,
      requests: recorder.attempts.length,
      troubled: recorder.attempts.filter(({ answer }) => answer.kind === 'trouble').length,
      late: this.late() - this.lateBefore,
      broken: this.broken(),
    }
  }

  private get ways() {
    return this.means.stage.ways.flat()
  }

  /** How many writes have come late since the stage stands. */
  private late(): number {
    return this.ways.reduce((sum, network) => sum + network.stragglers(), 0)
  }

  /** One fault. Those that touch the same thing come one after the other. */
  private async suffer({ name, at, lasts, process: place, seed }: PlannedFault): Promise<void> {
    const { stage } = this.means
    const fault = this.faultOf(name)
    await setTimeout(at)
    const way = stage.ways[place]
    const scene = { stage, place, way, lasts, random: randomFrom(seed) }
    const { processes, prefix, losses } = this
    const happen = async (): Promise<void> => {
      const from = performance.now()
      const end: End = await fault.begin({ ...scene, processes, prefix, losses })
      await setTimeout(lasts)
      await end()
      if (fault.touches === 'process') this.outages.push({ from, to: performance.now() })
    }
    if (fault.touches === undefined) return happen()
    const thing = fault.touches === 'process' ? `process ${place}` : fault.touches
    const turn = (this.queues.get(thing) ?? Promise.resolve()).then(happen)
    this.queues.set(thing, turn)
    return turn
  }

  private faultOf(name: FaultName): CampaignFault<S> {
    const fault = this.means.table[name]
    if (fault === undefined) throw new Error(`There is no fault "${name}" here.`)
    return fault
  }

  /** Waits until each process has gone the whole way twice in a row. */
  private async recovered(): Promise<void> {
    const { recovery = 20 } = this.means
    const isLeft = this.losses.some(({ of }) => of === 'reads')
    // A connection that only reads asks once a second whether its server is still the master.
    if (isLeft) await setTimeout(1100)
    const deadline = performance.now() + recovery * 1000
    for (let good = 0, rounds = 0; good < 2; rounds += 1) {
      const works = await Promise.all([0, 1].map((server) => this.works(server)))
      good = works.every(Boolean) ? good + 1 : 0
      // A process that is only slow comes to no such number of attempts.
      if (performance.now() > deadline && rounds > 2 * recovery) {
        const idle = works.flatMap((isServing, place) => (isServing ? [] : [`process ${place}`]))
        this.complaints.push(
          `${idle.join(' and ')} did not serve again in ${rounds} attempts of ${recovery} s`,
        )
        break
      }
      if (good === 0) await setTimeout(Math.min(20 * rounds, 300))
    }
    const to = performance.now()
    for (const [index, loss] of this.losses.entries())
      if (loss.to === Infinity) this.losses[index] = { ...loss, to }
  }

  private async works(server: number): Promise<boolean> {
    const { recorder } = this
    const line = recorder.newLine()
    const registered = await recorder.attempt(server, line, 'register', '')
    if (registered.kind !== 'granted') return false
    const [registration = ''] = registered.credentials
    const authenticated = await recorder.attempt(server, line, 'authenticate', registration)
    return authenticated.kind === 'accepted' && wholeWay(recorder, server)
  }

  private broken(): readonly string[] {
    const { attempts } = this.recorder
    const facts = { attempts, losses: this.losses, grace: refreshTokenGrace - 2 * clockSteps }
    const unexplained = attempts.filter(
      (attempt) =>
        attempt.answer.kind === 'unanswered' && !this.outages.some((outage) => overlaps(attempt, outage)),
    )
    return [
      ...this.complaints,
      ...this.processes.crashes(),
      ...[...consistencyViolations(facts), ...wrongAnswers(attempts)].map(({ rule, attempt }) =>
        inWords(rule, attempt, attempts),
      ),
      ...unexplained.map((attempt) => inWords('no answer although the process lived', attempt, attempts)),
    ]
  }
}

/** A broken rule, with all that its line has seen. */
function inWords(rule: string, broken: Attempt, attempts: readonly Attempt[]): string {
  const begun = attempts[0]?.sentAt ?? 0
  const told = attempts
    .filter(({ line }) => line === broken.line)
    .map(
      ({ act, presented, sentAt, answeredAt, answer }) =>
        `    ${Math.round(sentAt - begun)} to ${Math.round(answeredAt - begun)} ms: ${act} ${short(presented)} → ${answer.kind}${
          'credentials' in answer ? ` ${answer.credentials.map(short).join(' ')}` : ''
        }${'what' in answer ? ` ${answer.what}` : ''}`,
    )
  return `${rule} (${broken.act}, sent at ${Math.round(broken.sentAt - begun)} ms)\n${told.join('\n')}`
}

const short = (credential: string): string => credential.slice(-6)
