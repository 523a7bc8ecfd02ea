import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { bundled } from '../bundled'
import { within } from '../wait-until'
import type { ClientPlan, ClientReport } from './client-plan'

/**
 * Runs an MCP client in another process, until it has called its tools. Clients of the SDKs share a process, because
 * loading an SDK takes longer than most of its flows.
 */
export async function runClient(plan: ClientPlan) {
  const program = plan.generation === 'remote' ? new ClientProgram() : (shared ??= new ClientProgram())
  const reports = await program.run(plan)
  if (plan.generation === 'remote') program.stop()
  const failure = reports.find((report) => 'error' in report)
  return {
    reports,
    /** The results of the tools, in order. */
    results: reports.flatMap((report) => ('tool' in report ? [report.text] : [])),
    /** The authorization requests that the client sent its owner with. */
    requests: reports.flatMap((report) =>
      'authorization' in report ? [new URL(report.authorization).searchParams] : [],
    ),
    error: failure && `${failure.error}: ${failure.message}`,
  }
}

let shared: ClientProgram | undefined
afterAll(() => {
  shared?.stop()
  shared = undefined
})

/** A process that runs MCP clients, one after another. */
class ClientProgram {
  private readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  private trouble = ''
  private last: Promise<unknown> = Promise.resolve()

  constructor() {
    const program = bundled(join(__dirname, 'client-program.ts'))
    this.child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'pipe'] })
    this.child.stderr.on('data', (chunk: Buffer) => (this.trouble += chunk.toString()))
  }

  run(plan: ClientPlan): Promise<readonly ClientReport[]> {
    const reports = this.last.then(() => this.runNow(plan))
    this.last = reports.catch(() => undefined)
    return reports
  }

  private runNow(plan: ClientPlan): Promise<readonly ClientReport[]> {
    const ended = new Promise<readonly ClientReport[]>((resolve, reject) => {
      const reports: ClientReport[] = []
      let isEnded = false
      const lines = createInterface({ input: this.child.stdout })
      lines.on('line', (line) => {
        const report = reportOf(line)
        isEnded = 'ended' in report
        if (isEnded) lines.close()
        else reports.push(report)
      })
      lines.once('close', () => {
        if (isEnded) resolve(reports)
        else reject(new Error(`The program of MCP clients ended.\n${this.trouble}`))
      })
      this.child.stdin.write(`${JSON.stringify(plan)}\n`)
    })
    return within('the MCP client has ended', ended, () => this.trouble, 240)
  }

  stop(): void {
    this.child.stdin.end()
  }
}

const reportOf = (line: string): ClientReport => JSON.parse(line)
