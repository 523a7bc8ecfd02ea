import { randomUUID } from 'node:crypto'
import { issuers } from '../support/assertions/jwt'
import { Breakdown } from './breakdown'
import type { FaultTable } from './faults/fault'
import { clockSteps } from './faults/usual'
import type { Attempt, Loss, Span } from './history'
import { Lane } from './hostile/lane'
import { Notes } from './hostile/notes'
import { ValidRequests } from './hostile/requests'
import { growthIn, inWords, judge } from './judge'
import { Load } from './load'
import { registrations } from './parties'
import type { RunPlan } from './plan'
import type { WrongAnswer } from './planted/answers'
import { Processes } from './processes'
import type { Health, ServerPlan } from './server'
import type { Stage } from './stages/stage'

/** What came of a run. */
export interface Outcome {
  readonly plan: RunPlan
  readonly requests: number
  readonly hostile: number
  /** Hostile requests that were still good: else they were all too broken to try anything. */
  readonly good: number
  /** Answers that told of trouble. */
  readonly troubled: number
  /** Writes that came late. */
  readonly late: number
  /** Each broken promise, in words, with what shows it. */
  readonly broken: readonly string[]
}

/** On which terms a run goes. */
export interface Terms {
  /** Mistakes for the judge to find: of the store, of the answers, of the connection, and writes that wait for no replica. */
  readonly wrongStore?: string
  readonly wrongAnswer?: WrongAnswer
  readonly forgetsMarks?: boolean
  readonly waitsForNothing?: boolean
  /** Which kinds of hostile requests. Default: all. */
  readonly kinds?: readonly string[]
  /** Of a run in memory: its rounds and the hostile requests of all of them. Default 10 and 3000. */
  readonly rounds?: number
  readonly hostile?: number
  /** Seconds after which a process that does not serve again is given up. Default 60. */
  readonly recovery?: number
}

const fortyDays = 40 * 24 * 3600

/** Rounds on one process with the memory store; between two of them passes more time than any credential lives. */
export async function playInMemory(plan: RunPlan, terms: Terms = {}): Promise<Outcome> {
  const { rounds = 10, hostile = 3000 } = terms
  const run = await Run.begin(plan, terms, [{}])
  return run.outcome(async () => {
    const healths: Health[] = []
    for (let round = 0; round < rounds && !run.notes.isFull; round += 1) {
      const most = Math.ceil(hostile / rounds / run.lanes.length)
      const load = run.load({ ...plan, seed: plan.seed + round * 100 }, most)
      try {
        await load.sent
        run.take(await load.end())
      } finally {
        await load.leave()
      }
      healths.push(...(await run.told()))
      run.processes.setAhead(0, (round + 1) * fortyDays)
      for (const lane of run.lanes) lane.outlive()
    }
    for (const complaint of growthIn(healths, run.sent)) run.notes.complain(complaint, '')
  })
}

/** A run on a Redis that is whole and empty, of two processes. */
export async function playOn<S extends Stage>(
  stage: S,
  table: FaultTable<S>,
  plan: RunPlan,
  terms: Terms = {},
): Promise<Outcome> {
  const prefix = `campaign:${randomUUID()}:`
  const plans = stage.plans.map(({ waitForReplicas, ...redis }) => ({
    ...redis,
    ...(plan.waits && terms.waitsForNothing !== true && waitForReplicas ? { waitForReplicas } : {}),
    ...(terms.forgetsMarks === true ? { isCareless: true } : {}),
  }))
  const run = await Run.begin(
    plan,
    terms,
    plans.map((redis) => ({ redis, prefix })),
  )
  const breakdown = new Breakdown(plan, { stage, table, processes: run.processes, prefix, ...terms })
  return run.outcome(async () => {
    const load = run.load(plan, Infinity)
    run.processes.recorder = load.recorder
    try {
      await breakdown.happen(load.recorder)
      const attempts = await load.end(() => breakdown.allArrived())
      run.take(attempts, breakdown.losses, breakdown.outages)
    } finally {
      await load.leave()
    }
    await run.told()
    run.broken.push(...breakdown.complaints)
    run.late = breakdown.late()
  })
}

/** What is seen of one run, and judged. */
class Run {
  readonly notes: Notes
  readonly lanes: readonly Lane[]
  readonly broken: string[] = []
  late = 0
  private readonly valid: ValidRequests
  private readonly isCalm: boolean
  private requests = 0
  private troubled = 0

  private constructor(
    private readonly plan: RunPlan,
    private readonly terms: Terms,
    readonly processes: Processes,
  ) {
    this.isCalm = plan.faults.length === 0
    this.notes = new Notes(this.isCalm)
    this.valid = new ValidRequests(processes, plan.grace > 0)
    this.lanes = Array.from(
      { length: plan.hostile },
      (_, index) => new Lane(this.valid, plan.seed * 100 + index, this.notes),
    )
  }

  static async begin(
    plan: RunPlan,
    terms: Terms,
    own: readonly Pick<ServerPlan, 'redis' | 'prefix'>[],
  ): Promise<Run> {
    const usual = {
      clients: registrations,
      issuers,
      refreshTokenGrace: plan.grace,
      // A machine under load is not a store in trouble.
      storeDeadline: plan.faults.length === 0 ? 30 : 1,
      ...(terms.wrongStore !== undefined && { wrongStore: terms.wrongStore }),
      ...(terms.wrongAnswer !== undefined && { wrongAnswer: terms.wrongAnswer }),
    }
    return new Run(plan, terms, await Processes.start(own.map((each) => ({ ...usual, ...each }))))
  }

  get sent(): number {
    return this.requests + this.notes.sent
  }

  /** @param most hostile requests of each of those who send them. */
  load(plan: RunPlan, most: number): Load {
    const { lanes, processes, valid, terms } = this
    return new Load(processes.urls, plan, { lanes, kinds: terms.kinds ?? Object.keys(valid.kinds), most })
  }

  take(attempts: readonly Attempt[], losses: readonly Loss[] = [], outages: readonly Span[] = []): void {
    const { isCalm, plan } = this
    // Clocks differ, each by some seconds.
    const grace = Math.max(0, plan.grace - 2 * clockSteps)
    const violations = judge({ attempts, losses, isCalm, grace }, outages)
    this.broken.push(...violations.map((violation) => inWords(violation, attempts)))
    this.requests += attempts.length
    this.troubled += attempts.filter(({ answer }) => answer.kind === 'trouble').length
  }

  /** What the processes say of themselves. */
  async told(): Promise<readonly Health[]> {
    const healths = await this.processes.health()
    for (const complaint of healths.flatMap(({ complaints }) => complaints))
      // While something breaks, there are failures with a cause.
      if (this.isCalm || !complaint.startsWith('failure ')) this.notes.complain(complaint, '')
    return healths
  }

  async outcome(play: () => Promise<void>): Promise<Outcome> {
    const { plan, notes, processes } = this
    try {
      await play()
      if (this.isCalm && this.broken.length === 0 && !notes.isFull) await this.valid.tryEach(notes)
      this.broken.push(...processes.crashes())
    } finally {
      await processes.stop()
    }
    const { requests, troubled, late } = this
    const ofHostile = [...notes.complaints].map(([complaint, story]) => `${complaint}\n    ${story}`)
    const counts = { requests, troubled, late, hostile: notes.sent, good: notes.won }
    return { plan, ...counts, broken: [...this.broken, ...ofHostile] }
  }
}
