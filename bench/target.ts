import { createServer, type RequestListener, type Server } from 'node:http'
import type { Counts } from './counting'
import type * as InProcess from './in-process'

export const port = Number(process.env['PORT'])

/** What a target tells the harness of itself. */
export type Report =
  | { readonly kind: 'ready' }
  | { readonly kind: 'usage'; readonly cpu: number; readonly memory: NodeJS.MemoryUsage }
  | RoundReport
  | CountsReport

/** What one round in one process came to: microseconds of processor time, and requests, for one operation. */
export interface RoundReport {
  readonly kind: 'round'
  readonly cpu: number
  readonly requests: number
}

/** What one operation of a row makes. */
export interface CountsReport extends Counts {
  readonly kind: 'counts'
}

/** The name in programs-in-process.ts of what a process runs which is its own generator, see in-process.ts. */
export const programInProcess = process.env['BENCH_IN_PROCESS']

/** Serves an app of a target until the harness lets go of the process. */
export function serve(app: RequestListener): void {
  serveOn(createServer(app))
}

/** Serves over a server that was made already. */
export function serveOn(server: Server): void {
  server.keepAliveTimeout = 120_000
  if (programInProcess !== undefined) {
    // Loaded here, because others must not pay for loading it.
    const { serveInProcess }: typeof InProcess = require('./in-process')
    return serveInProcess(server, programInProcess)
  }
  server.listen(port, '127.0.0.1', () => tell({ kind: 'ready' }))
  process.on('message', (question) => {
    if (question !== 'usage' && question !== 'usage after collection') return
    if (question === 'usage after collection') global.gc?.()
    const { user, system } = process.cpuUsage()
    tell({ kind: 'usage', cpu: user + system, memory: process.memoryUsage() })
  })
  process.on('disconnect', () => process.exit())
}

/** Tells the harness. */
export function tell(report: Report): void {
  process.send?.(report)
}
