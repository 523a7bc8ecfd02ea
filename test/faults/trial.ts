import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { startServer, type ServerProcess } from '../support/flows/start-server'
import type { RedisPlan } from '../support/redis-plan'
import type { Attempt, History, Loss, Span } from './history'
import { judge, type Violation } from './judge'
import { randomFrom } from './random'
import { Recorder } from './recorder'
import type { Fault, Stage } from './stage'
import { audit, Visitor } from './visitor'

// Longer than the default: a busy machine with six Redis on it stands still for half a second now and then.
const storeDeadline = 1
const grace = 30
// A code or a refresh reads, writes, and after trouble reads once more, each within the deadline. The rest is for a
// machine that has other things to do.
const bound = 3 * storeDeadline + 3

/** What came of a fault. */
export interface Verdict {
  readonly requests: number
  /** Answers that told of trouble. */
  readonly troubled: number
  /** Seconds from the end of the fault until everything worked again. */
  readonly recovery: number
  readonly slowest: number
  readonly violations: readonly Violation[]
}

/** Server processes on one Redis, under load. */
export class Trial {
  private readonly faults: Span[] = []
  private readonly losses: Loss[] = []
  private readonly stop = new AbortController()
  private visits: Promise<unknown> = Promise.resolve()

  private constructor(
    readonly servers: readonly ServerProcess[],
    private readonly recorder: Recorder,
    private readonly patience: number,
  ) {}

  /** Begins the load of this many visitors. */
  static begin(servers: Servers, { seed, visitors, pause, patience = 30 }: Load): Trial {
    const [first, second, guarding] = servers
    const trial = new Trial(servers, new Recorder([first.url, second.url], guarding.url), patience)
    const { signal } = trial.stop
    const stays = Array.from({ length: visitors }, (_, index) =>
      new Visitor(trial.recorder, randomFrom(seed * 1000 + index), { pause, signal }).stay(),
    )
    trial.visits = Promise.all(stays)
    return trial
  }

  /** One fault, until everything works again. The seconds that took, from its end on. */
  async suffer<S extends Stage>(fault: Fault<S>, stage: S, seconds: number): Promise<number> {
    const from = performance.now()
    await fault.begin(stage)
    await setTimeout(seconds * 1000)
    await fault.end(stage)
    const over = performance.now()
    await this.recovered()
    const to = performance.now()
    this.faults.push({ from, to })
    if (fault.data === 'lost') this.losses.push({ from, to, of: 'all' })
    if (fault.data === 'forked') this.losses.push({ from, to, of: 'news' })
    // What a master acknowledged just before it died had not reached its replica yet.
    if (fault.data === 'lagging') this.losses.push({ from: from - 200, to, of: 'some' })
    return (to - over) / 1000
  }

  /** Waits until each server has gone the whole way some times in a row without any trouble. */
  private async recovered(): Promise<void> {
    const giveUpAt = performance.now() + this.patience * 1000
    for (let good = 0; good < 5;) {
      const works = await Promise.all(this.servers.map((_server, index) => wholeWay(this.recorder, index)))
      good = works.every(Boolean) ? good + 1 : 0
      if (performance.now() > giveUpAt) throw new Error('The servers do not work again.')
      if (good === 0) await setTimeout(20)
    }
  }

  /** Ends the load, whatever came of it: visitors of a trial that failed would keep its process for ever. */
  async leave(): Promise<void> {
    this.stop.abort()
    await this.visits
    this.recorder.close()
  }

  /** Ends the load, looks at what so many authorizations are worth now, and judges. */
  async end(audited: number): Promise<Omit<Verdict, 'recovery'>> {
    this.stop.abort()
    await this.visits
    await audit(this.recorder, audited)
    const { attempts } = this.recorder
    const history: History = { attempts, faults: this.faults, losses: this.losses, grace, bound }
    return {
      requests: attempts.length,
      troubled: attempts.filter(isTrouble).length,
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
async function wholeWay(recorder: Recorder, server: number): Promise<boolean> {
  const line = recorder.newLine()
  let credentials: readonly string[] = ['']
  for (const act of ['ask', 'decide', 'redeem', 'refresh'] as const) {
    const answer = await recorder.attempt(server, line, act, credentials.at(-1) ?? '')
    if (answer.kind !== 'granted') return false
    credentials = answer.credentials
  }
  return (await recorder.attempt(server, line, 'guard', credentials[0] ?? '')).kind === 'accepted'
}
