import { fork, spawn, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'
import { cpus } from 'node:os'
import path from 'node:path'
import { buildTargets } from './build'
import type { CountInProcess, RoundInProcess } from './programs-in-process'
import type { CountsReport, Report, RoundReport } from './target'
import type { Server } from './servers'

/** The core of the servers that are measured, and the one of everything else. */
export const serverCore = 0
export const otherCore = 1

/** The core of a process; `anywhere` leaves it to the system, with what started it. */
export type Core = number | 'anywhere'

/** Built when the first of them starts. */
let programs: string | undefined
let node = process.execPath

/** From now on targets run on that Node. What asks them stays on the Node that runs this process. */
export function runTargetsOn(execPath: string): void {
  node = execPath
}

/** What a server has used up. */
export interface Usage {
  /** Microseconds of processor time. */
  readonly cpu: number
  readonly memory: NodeJS.MemoryUsage
}

/** A target that runs in a process of its own. */
export interface RunningTarget {
  readonly port: number
  /** Milliseconds from its start until it listened. */
  readonly startedIn: number
  usage(after?: 'collection'): Promise<Usage>
  /** One round of a target that is its own generator. */
  roundInProcess(asked: RoundInProcess): Promise<RoundReport>
  /** What an operation of such a target makes. */
  countInProcess(asked: CountInProcess): Promise<CountsReport>
  /** Lets it go, and resolves when it is gone. */
  stop(): Promise<void>
}

export async function startTarget(
  { program, environment = {} }: Pick<Server, 'program' | 'environment'>,
  redisUrl: string,
  execArgv: readonly string[] = ['--expose-gc'],
  core: Core = serverCore,
): Promise<RunningTarget> {
  const file = path.isAbsolute(program) ? program : path.join((programs ??= buildTargets()), program)
  const port = await freePort()
  const started = performance.now()
  const child = fork(`${file}.js`, {
    execPath: node,
    execArgv: [...execArgv],
    env: { ...process.env, NODE_ENV: 'production', PORT: String(port), REDIS_URL: redisUrl, ...environment },
  })
  pin(child, core)
  const end = () => child.kill('SIGKILL')
  process.on('exit', end)
  child.once('exit', () => process.off('exit', end))
  await told(child, 'ready')
  return {
    port,
    startedIn: performance.now() - started,
    usage: async (after) => {
      child.send(after === 'collection' ? 'usage after collection' : 'usage')
      const { cpu, memory } = await told(child, 'usage')
      return { cpu, memory }
    },
    roundInProcess: (asked) => {
      child.send(asked)
      return told(child, 'round')
    },
    countInProcess: (asked) => {
      child.send(asked)
      return told(child, 'counts')
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.disconnect()
      }),
  }
}

/** Keeps a process on one core, so that figures are of one core's work; on a machine with one it stays where it is. */
export function pin({ pid }: { readonly pid?: number | undefined }, core: Core): void {
  if (core !== 'anywhere' && cpus().length > 1 && pid !== undefined)
    spawn('taskset', ['-a', '-c', '-p', String(core), String(pid)], { stdio: 'ignore' }).on('error', () => {})
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('No port.')),
      )
    })
  })
}

function told<Kind extends Report['kind']>(child: ChildProcess, kind: Kind) {
  return new Promise<Extract<Report, { kind: Kind }>>((resolve, reject) => {
    const hear = (report: Report) => {
      if (!isOf(report, kind)) return
      child.off('message', hear).off('exit', gone)
      resolve(report)
    }
    const gone = (code: number | null) => reject(new Error(`A target ended with ${code}.`))
    child.on('message', hear).on('exit', gone)
  })
}

const isOf = <Kind extends Report['kind']>(
  report: Report,
  kind: Kind,
): report is Extract<Report, { kind: Kind }> => report.kind === kind
