import { createServer, type RequestListener } from 'node:http'

export const port = Number(process.env['PORT'])

/** Listens for the harness, and tells it by messages what the process has used. */
export function serve(app: RequestListener): void {
  createServer(app).listen(port, '127.0.0.1', () => process.send?.('ready'))
  process.on('message', (question) => {
    if (question === 'cpu') process.send?.(process.cpuUsage())
    if (question === 'memory') {
      global.gc?.()
      process.send?.(process.memoryUsage())
    }
  })
  process.on('disconnect', () => process.exit())
}
