import { randomInt } from 'node:crypto'
import { Chance } from '../support/races/chance'
import type { Attempt } from './attempt'
import { complaintsAbout, type Sent } from './judge'
import { bytesOf } from './message'
import { mutate } from './mutations'
import type { FuzzServer } from './start-fuzz-server'
import { ValidRequests } from './valid-requests'
import type { Answer } from './wire'

/** How much is sent; the seed brings the same choices again. */
export interface FuzzRun {
  readonly seed: number
  readonly requests: number
  /** Whether the time of the server may be moved: Redis has a clock of its own. */
  readonly timeMoves: boolean
  /** Which kinds of requests. Default all. */
  readonly kinds?: readonly string[]
  /** Stops at so many different complaints. Default 20. */
  readonly patience?: number
}

/** What a run saw. */
export interface FuzzResult {
  readonly seed: number
  readonly requests: number
  /** Of each status, how many there were; 0 stands for no answer. */
  readonly statuses: Readonly<Record<number, number>>
  /** How many mutated requests were still good. */
  readonly won: number
  /** Each complaint once, with the first request that brought it. */
  readonly complaints: ReadonlyMap<string, string>
  /** Of the server process after each round, in bytes and numbers. */
  readonly memory: readonly number[]
  readonly handles: readonly number[]
}

const rounds = 10
const lanesAtOnce = 6
const fortyDays = 40 * 24 * 3600

/** FUZZ_SEED or a new one. */
export const seedOfFuzz = (): number => Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
/** FUZZ_REQUESTS or so many. */
export const requestsOfFuzz = (usual: number): number => Number(process.env['FUZZ_REQUESTS'] ?? usual)

/** Sends mutated requests of every kind to a server, and judges every answer and the process. */
export async function fuzz(server: FuzzServer, run: FuzzRun): Promise<FuzzResult> {
  const record = new Notes(run.patience ?? 20)
  let ahead = 0
  const valid = new ValidRequests(server.port, () => Date.now() + ahead * 1000)
  const lanes = Array.from({ length: lanesAtOnce }, (_, lane) => new Lane(valid, run.seed + lane, record))
  const kinds = run.kinds ?? Object.keys(valid.kinds)
  const perTurn = Math.ceil(run.requests / rounds / lanesAtOnce)
  const memory: number[] = []
  const handles: number[] = []
  for (let round = 0; round < rounds && !record.isFull; round++) {
    await Promise.all(lanes.map((lane) => lane.send(perTurn, kinds)))
    const passes = run.timeMoves ? fortyDays : 0
    ahead += passes
    for (const lane of lanes) lane.outlive(passes > 0)
    const health = await server.health(passes)
    for (const complaint of health.complaints) record.complain(complaint, `in round ${round}`)
    memory.push(health.memory)
    handles.push(health.handles)
  }
  await everyKindWorks(valid, record)
  for (const complaint of growth(memory, handles, run.requests)) record.complain(complaint, String(memory))
  if (!server.isAlive()) record.complain('the server ended', '')
  return { ...run, ...record.seen(), memory, handles }
}

/** What a server may keep of a request that is over: the rest is noise of the engine, which grows with nothing. */
const bytesPerRequest = 300
const noise = 2_000_000

function growth(memory: readonly number[], handles: readonly number[], requests: number): string[] {
  // The first rounds are for warming up.
  const [, , first = 0] = memory
  const grown = (memory.at(-1) ?? 0) - first
  const bound = noise + (bytesPerRequest * requests * (rounds - 3)) / rounds
  const more = (handles.at(-1) ?? 0) - (handles[2] ?? 0)
  return [
    ...(grown > bound ? [`memory grew by more than ${bound} bytes`] : []),
    ...(more > 2 ? ['handles stay open'] : []),
  ]
}

async function everyKindWorks(valid: ValidRequests, record: Notes): Promise<void> {
  for (const kind of Object.keys(valid.kinds)) {
    const attempt = await valid.make(kind).catch(() => undefined)
    const answer = attempt && (await valid.send(attempt.message))
    if (!answer || !attempt.won(answer)) record.complain(`a valid flow fails: ${kind}`, answer?.body ?? '')
  }
}

class Notes {
  readonly complaints = new Map<string, string>()
  private readonly statuses: Record<number, number> = {}
  private won = 0

  constructor(private readonly patience: number) {}

  get isFull(): boolean {
    return this.complaints.size >= this.patience
  }

  take(sent: Sent, answer: Answer): void {
    this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1
    if (sent.attempt.won(answer)) this.won += 1
    for (const complaint of complaintsAbout(sent, answer))
      this.complain(`${sent.attempt.kind}: ${complaint}`, story(sent, answer))
  }

  complain(complaint: string, story: string): void {
    if (!this.complaints.has(complaint)) this.complaints.set(complaint, story)
  }

  seen() {
    return { statuses: this.statuses, won: this.won, complaints: this.complaints }
  }
}

const story = ({ message }: Sent, { status, headers, body }: Answer): string =>
  `${JSON.stringify(bytesOf(message).toString('latin1')).slice(0, 1500)}\n-> ${status} ${JSON.stringify(headers)} ${body.slice(0, 500)}`

/** One sender, whose choices come again with its seed. */
class Lane {
  private readonly chance: Chance
  private readonly ready = new Map<string, { attempt: Attempt; left: number }>()
  private expired: Attempt[] = []
  private last: Attempt | undefined

  constructor(
    private readonly valid: ValidRequests,
    seed: number,
    private readonly record: Notes,
  ) {
    this.chance = new Chance(seed)
  }

  async send(count: number, [first = '', ...rest]: readonly string[]): Promise<void> {
    for (let sent = 0; sent < count && !this.record.isFull; sent++)
      await this.sendOne(this.chance.among([first, ...rest]))
  }

  /** What was ready is over: after forty days every credential is too old. */
  outlive(isExpired: boolean): void {
    if (isExpired)
      this.expired = [...this.ready.values()]
        .map(({ attempt }) => attempt)
        .filter(({ once, dies }) => once || dies !== undefined)
    this.ready.clear()
  }

  private async sendOne(kind: string): Promise<void> {
    const mark = `zq${this.chance.below(2 ** 31).toString(36)}qz`
    const turn = this.chance.below(40)
    const [expired] = this.expired
    if (turn === 0 && expired !== undefined) {
      this.expired.shift()
      return this.judge({ attempt: expired, message: expired.message, mark, dead: 'it has expired' })
    }
    const attempt = await this.attemptOf(kind)
    if (attempt === undefined) return
    if (turn === 1) return this.tryDead(attempt, mark)
    const other = this.last ?? attempt
    const means = { chance: this.chance, mark, other: other.message }
    this.last = attempt
    await this.judge({ attempt, message: mutate(attempt.message, means), mark, other })
  }

  // Used up or revoked, though not a byte of it has changed.
  private async tryDead(attempt: Attempt, mark: string): Promise<void> {
    this.ready.delete(attempt.kind)
    const { message, dies, once } = attempt
    if (dies !== undefined) await this.valid.send(this.valid.revocationOf(dies))
    else if (once) await this.valid.send(message)
    const dead = dies === undefined ? 'it was used' : 'its token was revoked'
    await this.judge({ attempt, message, mark, ...(once || dies !== undefined ? { dead } : {}) })
  }

  // Most mutated requests change nothing on the server, so that one preparation serves several of them.
  private async attemptOf(kind: string): Promise<Attempt | undefined> {
    const ready = this.ready.get(kind)
    if (ready !== undefined && ready.left-- > 0) return ready.attempt
    try {
      const attempt = await this.valid.make(kind)
      this.ready.set(kind, { attempt, left: 12 })
      return attempt
    } catch (error) {
      this.record.complain(`a valid flow fails: ${kind}`, String(error))
      return undefined
    }
  }

  private async judge(sent: Sent): Promise<void> {
    const answer = await this.valid.send(sent.message)
    this.record.take(sent, answer)
    if (sent.attempt.won(answer) && sent.attempt.once) this.ready.delete(sent.attempt.kind)
  }
}
