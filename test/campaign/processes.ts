import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { isRecord } from '../../lib/primitives/options-reader'
import { bundled } from '../support/bundled'
import type { Recorder } from './recorder'
import type { Asked, Health, ServerPlan } from './server'

/** The host application in a process of its own. */
class ServerProcess {
  private output = ''

  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  static async start(plan: ServerPlan): Promise<ServerProcess> {
    const child = fork(bundled(join(__dirname, 'server.ts'), 'bundled'), [JSON.stringify(plan)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Its warnings are complaints already.
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    })
    let started: ServerProcess | undefined
    let output = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (started !== undefined) started.output = output
    })
    const [message]: unknown[] = await once(child, 'message', { signal: AbortSignal.timeout(240_000) })
    started = new ServerProcess(child, isRecord(message) ? Number(message['port']) : 0)
    return started
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  tell(asked: Asked): void {
    this.child.send(asked)
  }

  /** Collects its garbage, and tells how it is. */
  async health(): Promise<Health> {
    const told = once(this.child, 'message', { signal: AbortSignal.timeout(240_000) })
    this.tell({})
    const [message]: unknown[] = await told
    const { memory, handles, complaints } = isRecord(message) ? message : {}
    return {
      memory: Number(memory),
      handles: Number(handles),
      complaints: Array.isArray(complaints) ? complaints.map(String) : [],
    }
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(signal)
  }

  /** Why it has died by itself; undefined while it lives. */
  get crash(): string | undefined {
    const lives = this.child.exitCode === null && this.child.signalCode === null
    return lives ? undefined : this.output.slice(-600)
  }

  async kill(): Promise<void> {
    if (this.crash !== undefined) return
    const gone = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await gone
  }
}

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
    return new Processes(plans, await Promise.all(plans.map((plan) => ServerProcess.start(plan))))
  }

  get urls(): readonly string[] {
    return this.processes.map(({ url }) => url)
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
    await this.at(place).kill()
  }

  /** Starts one again that was killed. */
  async startAgain(place: number): Promise<void> {
    const [plan] = this.plans.slice(place)
    if (plan === undefined) throw new Error('There is no such process.')
    const process = await ServerProcess.start(plan)
    this.processes[place] = process
    this.killed.delete(place)
    // The clock may have changed while the process started.
    process.tell({ ahead: this.aheads[place] ?? 0 })
    this.recorder?.moved(place, process.url)
  }

  signal(place: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.at(place).signal(signal)
  }

  setAhead(place: number, seconds: number): void {
    this.aheads[place] = seconds
    if (!this.killed.has(place)) this.at(place).tell({ ahead: seconds })
  }

  /** Milliseconds since the epoch, as this process has it. */
  clock(place: number): number {
    return Date.now() + (this.aheads[place] ?? 0) * 1000
  }

  health(): Promise<readonly Health[]> {
    return Promise.all(
      this.processes.filter(({ crash }) => crash === undefined).map((process) => process.health()),
    )
  }

  /** What is wrong with them: one that has died by itself, and why. */
  crashes(): readonly string[] {
    return this.processes.flatMap(({ crash }, place) =>
      crash === undefined ? [] : [`process ${place} has died: ${crash}`],
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()))
  }
}
