import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isRecord } from '../../lib/primitives/values'
import { bundled } from '../support/bundled'
import { nodeFor } from '../support/store-plan'
import type { Recorder } from './recorder'
import type { Asked, Health, ServerPlan } from './server'

/** The host application in a process of its own. */
interface ServerProcess {
  readonly child: ChildProcess
  readonly port: number
  readonly output: () => string
}

// A machine under load takes its time.
const patience = () => ({ signal: AbortSignal.timeout(240_000) })

async function messageOf(child: ChildProcess): Promise<Readonly<Record<string, unknown>>> {
  const [message]: unknown[] = await once(child, 'message', patience())
  return isRecord(message) ? message : {}
}

async function startProcess(plan: ServerPlan): Promise<ServerProcess> {
  const child = fork(bundled(join(__dirname, 'server.ts'), 'bundled'), [JSON.stringify(plan)], {
    execArgv: ['--expose-gc'],
    execPath: plan.store === undefined ? process.execPath : nodeFor(plan.store),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Its warnings are complaints already.
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  })
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const { port } = await messageOf(child)
  return { child, port: Number(port), output: () => output }
}

const isAlive = ({ child }: ServerProcess) => child.exitCode === null && child.signalCode === null
const tell = ({ child }: ServerProcess, asked: Asked) => void child.send(asked)

/** Collects its garbage, and tells how it is. */
async function healthOf(process: ServerProcess): Promise<Health> {
  const told = messageOf(process.child)
  tell(process, {})
  const { memory, handles, complaints } = await told
  return {
    memory: Number(memory),
    handles: Number(handles),
    complaints: Array.isArray(complaints) ? complaints.map(String) : [],
  }
}

async function kill(process: ServerProcess): Promise<void> {
  if (!isAlive(process)) return
  const gone = once(process.child, 'exit')
  process.child.kill('SIGKILL')
  await gone
}

const urlOf = (port: number) => `http://127.0.0.1:${port}`

/** Server processes that can be killed, stopped, started again, and given a wrong time. */
export class Processes {
  private readonly aheads: number[]
  private readonly killed = new Set<number>()
  recorder: Recorder | undefined

  private constructor(
    private readonly plans: readonly ServerPlan[],
    private readonly processes: ServerProcess[],
  ) {
    this.aheads = plans.map(() => 0)
  }

  static async start(plans: readonly ServerPlan[]): Promise<Processes> {
    return new Processes(plans, await Promise.all(plans.map(startProcess)))
  }

  get urls(): readonly string[] {
    return this.ports.map(urlOf)
  }

  get ports(): readonly number[] {
    return this.processes.map(({ port }) => port)
  }

  private at(place: number): ServerProcess {
    const process = this.processes[place]
    if (process === undefined) throw new Error('There is no such process.')
    return process
  }

  async killOne(place: number): Promise<void> {
    this.killed.add(place)
    await kill(this.at(place))
  }

  /** Starts one again that was killed. */
  async startAgain(place: number): Promise<void> {
    const [plan] = this.plans.slice(place)
    if (plan === undefined) throw new Error('There is no such process.')
    const process = await startProcess(plan)
    this.processes[place] = process
    this.killed.delete(place)
    // The clock may have changed while the process started.
    tell(process, { ahead: this.aheads[place] ?? 0 })
    this.recorder?.moved(place, urlOf(process.port))
  }

  signal(place: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.at(place).child.kill(signal)
  }

  setAhead(place: number, seconds: number): void {
    this.aheads[place] = seconds
    if (!this.killed.has(place)) tell(this.at(place), { ahead: seconds })
  }

  /** Milliseconds since the epoch, as this process has it. */
  clock(place: number): number {
    return Date.now() + (this.aheads[place] ?? 0) * 1000
  }

  health(): Promise<readonly Health[]> {
    return Promise.all(this.processes.filter(isAlive).map(healthOf))
  }

  /** What is wrong with them: one that has died by itself, and why. */
  crashes(): readonly string[] {
    return this.processes.flatMap((process, place) =>
      isAlive(process) ? [] : [`process ${place} has died: ${process.output().slice(-600)}`],
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map(kill))
  }
}
