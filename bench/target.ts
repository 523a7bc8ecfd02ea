import { createServer, type RequestListener, type Server } from 'node:http'

export const port = Number(process.env['PORT'])

/** What a target tells the harness of itself. */
export type Report =
  | { readonly kind: 'ready' }
  | { readonly kind: 'usage'; readonly cpu: number; readonly memory: NodeJS.MemoryUsage }

/** Serves an app of a target until the harness lets go of the process. */
export function serve(app: RequestListener): void {
  serveOn(createServer(app))
}

/** Serves over a server that was made already. */
export function serveOn(server: Server): void {
  server.keepAliveTimeout = 120_000
  server.listen(port, '127.0.0.1', () => tell({ kind: 'ready' }))
  process.on('message', (question) => {
    if (question !== 'usage' && question !== 'usage after collection') return
    if (question === 'usage after collection') global.gc?.()
    const { user, system } = process.cpuUsage()
    tell({ kind: 'usage', cpu: user + system, memory: process.memoryUsage() })
  })
  process.on('disconnect', () => process.exit())
}

function tell(report: Report): void {
  process.send?.(report)
}
