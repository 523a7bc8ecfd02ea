import { startServer, type ServerProcess } from '../../../support/flows/start-server'
import type { ServerPlan } from '../../../support/flows/server-process'
import type { Recorder } from '../recorder'

export type Place = 0 | 1

/** Two server processes that can be killed, stopped, started again, and given a wrong time. */
export class TwoProcesses {
  private readonly aheads: [number, number] = [0, 0]
  private readonly killed = new Set<Place>()
  recorder: Recorder | undefined

  private constructor(
    private readonly plans: readonly [ServerPlan, ServerPlan],
    private readonly processes: [ServerProcess, ServerProcess],
  ) {}

  static async start(plans: readonly [ServerPlan, ServerPlan]): Promise<TwoProcesses> {
    return new TwoProcesses(plans, await Promise.all([startServer(plans[0]), startServer(plans[1])]))
  }

  get urls(): readonly [string, string] {
    return [this.processes[0].url, this.processes[1].url]
  }

  async killOne(place: Place): Promise<void> {
    this.killed.add(place)
    await this.processes[place].kill()
  }

  /** Starts one again that was killed. */
  async startAgain(place: Place): Promise<void> {
    const process = await startServer({ ...this.plans[place], ahead: this.aheads[place] })
    this.processes[place] = process
    this.killed.delete(place)
    // The clock may have changed while the process started.
    process.setAhead(this.aheads[place])
    this.recorder?.moved(place, process.url)
  }

  signal(place: Place, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.processes[place].signal(signal)
  }

  setAhead(place: Place, seconds: number): void {
    this.aheads[place] = seconds
    if (!this.killed.has(place)) this.processes[place].setAhead(seconds)
  }

  /** What is wrong with them: one that has died by itself, and why. */
  crashes(): readonly string[] {
    return this.processes.flatMap((process, place) =>
      process.isAlive() ? [] : [`process ${place} has died: ${process.output().slice(-600)}`],
    )
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()))
  }
}
