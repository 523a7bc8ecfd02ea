import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { startServer, type ServerProcess } from '../../support/flows/start-server'
import { writesArrive, type RedisPlan } from '../../support/redis-plan'
import { Control } from './control'
import { Exchange } from './exchange'
import { coveredOf, overlaps, type Attempt, type History, type Loss, type Span } from './history'
import { judge, type Violation } from './judge'
import { randomFrom } from './random'
import { Recorder } from './recorder'
import type { Fault, Stage } from './stage'
import { audit, Visitor } from './visitor'

// Seconds. Longer than the default, so that slow networks can be told from slower ones.
const storeDeadline = 1
const grace = 30
// A code or a refresh reads, writes, and after trouble reads once more, each within the deadline. The rest is for what
// lasts too short for a standstill to be seen.
const bound = 3 * storeDeadline + 3

/** How long it took until everything worked again. */
export interface Recovery {
  /** Seconds from the end of the fault. */
  readonly recovery: number
  /** The part of them in which the suite had all that it needs: Redis took writes, and the machine did not stand still. */
  readonly delay: number
}

/** What came of a fault. */
export interface Verdict extends Recovery {
  readonly requests: number
  /** Answers that told of trouble. */
  readonly troubled: number
  /** Those of them that came while the machine did not stand still. */
  readonly undisturbed: number
  readonly slowest: number
  readonly violations: readonly Violation[]
}

/** Server processes on one Redis, under load. */
export class Trial {
  private readonly faults: Span[] = []
  private readonly losses: Loss[] = []
  private readonly stop = new AbortController()
  private readonly over = new AbortController()
  private readonly control: Control
  private visits: Promise<unknown> = Promise.resolve()

  private constructor(
    readonly servers: readonly ServerProcess[],
    stage: Stage,
    private readonly recorder: Recorder,
    private readonly patience: number,
  ) {
    const exchanges = servers.map(({ url }) => new Exchange(url))
    const nowhere = exchanges.map((exchange) => () => exchange.send({ method: 'GET', path: '/nowhere' }))
    this.control = new Control([...nowhere, () => stage.ping()], this.over.signal)
    this.over.signal.addEventListener('abort', () => {
      for (const exchange of exchanges) exchange.close()
    })
  }

  /** Begins the load of this many visitors. */
  static begin(servers: Servers, stage: Stage, { seed, visitors, pause, patience = 30 }: Load): Trial {
    const [first, second, guarding] = servers
    const recorder = new Recorder([first.url, second.url], guarding.url)
    const trial = new Trial(servers, stage, recorder, patience)
    const { signal } = trial.stop
    const stays = Array.from({ length: visitors }, (_, index) =>
      new Visitor(trial.recorder, randomFrom(seed * 1000 + index), { pause, signal }).stay(),
    )
    trial.visits = Promise.all(stays)
    return trial
  }

  /** One fault, until everything works again. */
  async suffer<S extends Stage>(fault: Fault<S>, stage: S, seconds: number): Promise<Recovery> {
    const from = performance.now()
    await fault.begin(stage)
    await setTimeout(seconds * 1000)
    await fault.end(stage)
    const over = performance.now()
    const { delay } = await this.recovered(stage)
    const to = performance.now()
    this.faults.push({ from, to })
    if (fault.data === 'lost') this.losses.push({ from, to, of: 'all' })
    if (fault.data === 'forked') this.losses.push({ from, to, of: 'news' })
    // What a master acknowledged just before it died had not reached its replica yet.
    if (fault.data === 'lagging') this.losses.push({ from: from - 200, to, of: 'some' })
    return { recovery: (to - over) / 1000, delay: delay / 1000 }
  }

  /**
   * Waits until each server has gone the whole way some times in a row without any trouble of its own. The delay counts
   * from when Redis takes writes again, and stands still when the machine does.
   */
  private async recovered(stage: Stage): Promise<{ readonly delay: number }> {
    let ready: number | undefined
    const takesWrites = writesArrive(stage.plan, this.over.signal).then(() => (ready = performance.now()))
    const delay = (to: number): number =>
      ready === undefined ? 0 : to - ready - coveredOf({ from: ready, to }, this.control.standstills)
    for (let good = 0; good < 5;) {
      const from = performance.now()
      const works = await Promise.all(this.servers.map((_server, index) => wholeWay(this.recorder, index)))
      const way = { from, to: performance.now() }
      if (works.every(Boolean)) good += 1
      else if (coveredOf(way, this.control.standstills) === 0) good = 0
      if (delay(way.to) > this.patience * 1000) throw new Error('The servers do not work again.')
      if (!works.every(Boolean)) await setTimeout(20)
    }
    const to = performance.now()
    await takesWrites
    return { delay: Math.max(0, delay(to)) }
  }

  /** Ends the load, whatever came of it: visitors of a trial that failed would keep its process for ever. */
  async leave(): Promise<void> {
    this.stop.abort()
    await this.visits
    this.over.abort()
    this.recorder.close()
  }

  /** Ends the load, looks at what so many authorizations are worth now, and judges. */
  async end(audited: number): Promise<Omit<Verdict, keyof Recovery>> {
    this.stop.abort()
    await this.visits
    await audit(this.recorder, audited)
    const { attempts } = this.recorder
    const { faults, losses } = this
    const { standstills } = this.control
    const history: History = { attempts, faults, losses, standstills, grace, bound }
    const troubled = attempts.filter(isTrouble)
    return {
      requests: attempts.length,
      troubled: troubled.length,
      undisturbed: troubled.filter((attempt) => !standstills.some((span) => overlaps(attempt, span))).length,
      slowest: attempts.reduce(
        (most, { sentAt, answeredAt }) => Math.max(most, (answeredAt - sentAt) / 1000),
        0,
      ),
      violations: judge(history),
    }
  }
}

/** The last one only guards, so that its connection to Redis never writes. */
export type Servers = readonly [ServerProcess, ServerProcess, ServerProcess]

export interface Load {
  readonly seed: number
  readonly visitors: number
  /** Milliseconds between two requests of a visitor at most. */
  readonly pause: number
  /** Seconds after which a server that does not work again is given up. Default 30. */
  readonly patience?: number | undefined
}

const isTrouble = ({ answer }: Attempt): boolean => answer.kind === 'trouble'

/** Three server processes with the deadline of production. */
export async function startServers(redis: RedisPlan): Promise<Servers> {
  const plan = { redis, prefix: `faults:${randomUUID()}:`, refreshTokenGrace: grace, storeDeadline }
  return Promise.all([startServer(plan), startServer(plan), startServer(plan)])
}

/** From a question to a refresh: whether every answer was the good one. */
export async function wholeWay(recorder: Recorder, server: number): Promise<boolean> {
  const line = recorder.newLine()
  let credentials: readonly string[] = ['']
  for (const act of ['ask', 'decide', 'redeem', 'refresh'] as const) {
    const answer = await recorder.attempt(server, line, act, credentials.at(-1) ?? '')
    if (answer.kind !== 'granted') return false
    credentials = answer.credentials
  }
  return (await recorder.attempt(server, line, 'guard', credentials[0] ?? '')).kind === 'accepted'
}
