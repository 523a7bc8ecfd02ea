import { randomUUID } from 'node:crypto'
import { issuers } from '../support/assertions/jwt'
import { Chance } from '../support/chance'
import { Breakdown } from './breakdown'
import { clockSteps, type FaultTable } from './faults'
import type { Attempt, Loss, Span } from './history'
import { Lane } from './hostile/lane'
import { Notes } from './hostile/notes'
import { ValidRequests } from './hostile/requests'
import { growthIn, inWords, judge } from './judge'
import { registrations } from './parties'
import type { RunPlan } from './plan'
import type { WrongAnswer } from './planted/answers'
import { Processes } from './processes'
import { finalReads, Recorder } from './recorder'
import type { Health, ServerPlan } from './server'
import type { Stage } from './stages/stage'
import { Visitor } from './visitors'

/** What came of a run. */
export interface Outcome {
  readonly requests: number
  readonly hostile: number
  /** Hostile requests that were still good: else they were all too broken to try anything. */
  readonly good: number
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
      run.take(
        await run.attempts({ ...plan, seed: plan.seed + round * 100 }, most, (_recorder, sent) => sent),
      )
      healths.push(...(await run.told()))
      run.processes.setAhead(0, (round + 1) * fortyDays)
      for (const lane of run.lanes) lane.outlive()
    }
    for (const complaint of growthIn(healths, run.sent)) run.notes.complain(complaint, '')
  })
}

/** A run on a database that is whole and empty, of two processes. */
export async function playOn<S extends Stage>(
  stage: S,
  table: FaultTable<S>,
  plan: RunPlan,
  terms: Terms = {},
): Promise<Outcome> {
  const prefix = `campaign:${randomUUID()}:`
  const places = await stage.plansFor(prefix, plan.waits && terms.waitsForNothing !== true)
  const careless = terms.forgetsMarks === true ? { isCareless: true } : {}
  const run = await Run.begin(
    plan,
    terms,
    places.map((store) => ({ store: { ...store, ...careless } })),
  )
  const breakdown = new Breakdown(plan, { stage, table, processes: run.processes, prefix, ...terms })
  return run.outcome(async () => {
    const attempts = await run.attempts(
      plan,
      Infinity,
      (recorder) => breakdown.happen(recorder),
      () => breakdown.allArrived(),
    )
    run.take(attempts, breakdown.losses, breakdown.outages)
    await run.told()
    run.broken.push(...breakdown.complaints)
  })
}

/** What is seen of one run, and judged. */
class Run {
  readonly notes: Notes
  readonly lanes: readonly Lane[]
  readonly broken: string[] = []
  private readonly valid: ValidRequests
  private readonly isCalm: boolean
  private requests = 0

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

  static async begin(plan: RunPlan, terms: Terms, own: readonly Pick<ServerPlan, 'store'>[]): Promise<Run> {
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

  /**
   * What visitors asked at the servers while this happened, and hostile senders beside them, and what came when they
   * presented everything once more.
   *
   * @param most hostile requests of each of those who send them.
   * @param happen gets a promise that all hostile requests are sent.
   */
  async attempts(
    { visitors, races, ends, seed, resting }: RunPlan,
    most: number,
    happen: (recorder: Recorder, sent: Promise<unknown>) => Promise<unknown>,
    settled: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<readonly Attempt[]> {
    const recorder = new Recorder(this.processes.urls)
    recorder.resting = resting
    this.processes.recorder = recorder
    const stop = new AbortController()
    const { signal } = stop
    const { kinds = Object.keys(this.valid.kinds) } = this.terms
    const stays = Array.from({ length: visitors }, (_, index) =>
      new Visitor(recorder, new Chance(seed * 1000 + index), { races, ends, signal }).stay(),
    )
    const sent = Promise.all(this.lanes.map((lane) => lane.send(most, kinds, () => signal.aborted)))
    try {
      await happen(recorder, sent)
      stop.abort()
      await Promise.all([...stays, sent])
      await settled()
      await finalReads(recorder)
      return recorder.attempts
    } finally {
      // Whatever came of it: visitors that stay would keep their process for ever.
      stop.abort()
      await Promise.allSettled([...stays, sent])
      recorder.close()
    }
  }

  take(attempts: readonly Attempt[], losses: readonly Loss[] = [], outages: readonly Span[] = []): void {
    const { isCalm, plan } = this
    // Clocks differ, each by some seconds.
    const grace = Math.max(0, plan.grace - 2 * clockSteps)
    const violations = judge({ attempts, losses, isCalm, grace }, outages)
    this.broken.push(...violations.map((violation) => inWords(violation, attempts)))
    this.requests += attempts.length
  }

  /** What the processes say of themselves. */
  async told(): Promise<readonly Health[]> {
    const healths = await this.processes.health()
    for (const complaint of healths.flatMap(({ complaints }) => complaints))
      // While something breaks, there are failures with a cause, and warnings of a store that cannot be used.
      if (this.isCalm || !/^failure |^warning .* cannot be used \(/.test(complaint))
        this.notes.complain(complaint, '')
    return healths
  }

  async outcome(play: () => Promise<void>): Promise<Outcome> {
    const { notes, processes } = this
    try {
      await play()
      if (this.isCalm && this.broken.length === 0 && !notes.isFull) await this.valid.tryEach(notes)
      this.broken.push(...processes.crashes())
    } finally {
      await processes.stop()
    }
    const ofHostile = [...notes.complaints].map(([complaint, story]) => `${complaint}\n    ${story}`)
    const broken = [...this.broken, ...ofHostile]
    return { requests: this.requests, hostile: notes.sent, good: notes.won, broken }
  }
}
