import { randomInt } from 'node:crypto'
import { Lane } from './lane'
import { Notes } from './notes'
import type { FuzzServer } from './start-fuzz-server'
import { ValidRequests } from './valid-requests'

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
