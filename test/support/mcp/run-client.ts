import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundled } from '../bundled'
import type { ClientPlan, ClientReport } from './client-plan'

/** What became of an MCP client. */
export interface ClientRun {
  readonly reports: readonly ClientReport[]
  /** The results of the tools, in order. */
  readonly results: readonly string[]
  /** The authorization requests that the client sent its owner with. */
  readonly requests: readonly URLSearchParams[]
  readonly error: string | undefined
}

/**
 * Runs an MCP client in a process of its own, until it has called its tools.
 *
 * @param authorities a file of certificate authorities to trust besides those of the machine.
 */
export async function runClient(plan: ClientPlan, authorities?: string): Promise<ClientRun> {
  const program = bundled(join(__dirname, 'client-program.ts'))
  const env = { ...process.env, ...(authorities !== undefined && { NODE_EXTRA_CA_CERTS: authorities }) }
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, trouble] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (trouble += chunk.toString()))
  await once(child, 'close')
  const reports = output.split('\n').filter(Boolean).map(reportOf)
  const failure = reports.find((report) => 'error' in report)
  const silent = reports.length === 0 ? `The client said nothing.\n${trouble}` : undefined
  return {
    reports,
    results: reports.flatMap((report) => ('tool' in report ? [report.text] : [])),
    requests: reports.flatMap((report) =>
      'authorization' in report ? [new URL(report.authorization).searchParams] : [],
    ),
    error: failure === undefined ? silent : `${failure.error}: ${failure.message}`,
  }
}

const reportOf = (line: string): ClientReport => JSON.parse(line)
